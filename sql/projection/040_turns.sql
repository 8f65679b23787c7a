-- The triggers that maintain turns of agents and documents in the graph; see 030_passages.sql for why in a transaction of
-- their own.
DROP TRIGGER IF EXISTS project_turn ON memsvc.turns;
CREATE CONSTRAINT TRIGGER project_turn AFTER INSERT OR UPDATE ON memsvc.turns
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION memsvc.project_turn();
CREATE OR REPLACE TRIGGER project_versions AFTER INSERT ON memsvc.document_versions
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_versions();
CREATE OR REPLACE TRIGGER project_document AFTER UPDATE OF identifier, "local", title ON memsvc.sources
FOR EACH ROW WHEN (
  new.kind = 'document'
  AND (new.identifier, new."local", new.title) IS DISTINCT FROM (old.identifier, old."local", old.title)
) EXECUTE FUNCTION memsvc.project_document();
CREATE OR REPLACE TRIGGER project_calls AFTER UPDATE ON memsvc.tool_calls
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_calls();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc.turns
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.forget_turn_parts();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc.tool_calls
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.forget_turn_parts();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc.document_versions
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.forget_turn_parts();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc.sources
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.forget_turn_parts();
