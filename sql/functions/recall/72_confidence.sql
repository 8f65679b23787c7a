-- How likely it is that the answer is among what was found, 0 to 1; null without token vectors. p_cosine: the best
-- cosine; p_late: the mean of the best three MaxSims; p_mine: the query says "I", and the user speaks; else p_named and
-- p_others: the best MaxSim of those whom the query names (null: it names nobody who speaks here) and of all others
-- (null: there are none, which counts as 0.3); p_told: a fact holds the words of the query. A logistic function of what
-- make bench-confidence fits, for the default embedding model (docs/adr/0036-confidence.md). Saying "I" counts only
-- where something is near. A fact that tells it is above the threshold, whatever the messages are.
CREATE OR REPLACE FUNCTION memsvc.confidence(
  p_cosine double precision, p_late double precision, p_mine boolean, p_named double precision,
  p_others double precision, p_told boolean
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE WHEN p_late IS NOT NULL THEN greatest(CASE WHEN p_told THEN 0.2 END, 1 / (1 + exp(-(
  -4.08
  + 2.5 * coalesce(p_cosine, 0)
  + 2.7 * p_late
  + CASE
    WHEN p_mine THEN 2 * greatest(0, least(1, (p_cosine - 0.35) / 0.1))
    WHEN p_named IS NOT NULL THEN -0.3 + 7 * greatest(-0.2, least(0.2, p_named - coalesce(p_others, 0.3)))
    ELSE 0
  END
)))) END;
COMMENT ON FUNCTION memsvc.confidence(
  double precision, double precision, boolean, double precision, double precision, boolean
) IS 'How likely it is that the answer is among what was found, 0 to 1.';
