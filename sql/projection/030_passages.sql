-- The triggers that maintain messages in the graph, in a transaction of their own: a transaction that writes messages
-- and then facts takes the locks of 020_graph.sql in the other order.

CREATE OR REPLACE TRIGGER project_passages AFTER INSERT ON memsvc.passages
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_passages();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc.passages
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.forget_passages();
