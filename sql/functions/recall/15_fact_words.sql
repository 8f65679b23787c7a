-- Keeps the words of a fact's sentence beside it, in its user's language, whoever writes: what match_fact_words
-- compares.
CREATE OR REPLACE FUNCTION memsvc.form_fact() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  NEW.tsv := memsvc.to_words(
    'stemmed', coalesce((SELECT u.language FROM users AS u WHERE u.user_id = NEW.user_id), 'simple'), NEW.fact
  );
  NEW.length := memsvc.word_count(NEW.tsv);
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION memsvc.form_fact() IS 'Trigger: keeps the words of a fact.';

CREATE OR REPLACE TRIGGER formed BEFORE INSERT ON memsvc.edge_versions
FOR EACH ROW EXECUTE FUNCTION memsvc.form_fact();
