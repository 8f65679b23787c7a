-- What is known about a memory besides its text, as numbers that a score can add. Pure arithmetic without settings of
-- their own, so that the planner puts them into the statement that calls them. Null in, null out, unless it is said
-- otherwise. Exponents end at 1000, where a double precision is not yet 0 and PostgreSQL would raise an underflow.

-- 1 for what is new, 1/2 after one half-life, 1/4 after two: 2^(-age / half-life). What lies in the future is new.
-- p_half_life counts as one second at least.
CREATE OR REPLACE FUNCTION memsvc.recency(p_age interval, p_half_life interval) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN power(2::double precision, - least(
  greatest(date_part('epoch', p_age), 0) / greatest(date_part('epoch', p_half_life), 1), 1000
));
COMMENT ON FUNCTION memsvc.recency(interval, interval) IS
  'Exponential decay with the age, 1 down to 0: 2^(-age / half-life).';

-- How well a memory has been kept by being recalled: p_recalls times, for the last time p_since ago. It fades from
-- then on, and each recall makes it fade more slowly: the half-life is p_half_life * (1 + p_recalls). 0 to 1; 0 for
-- what was never recalled, also where p_recalls or p_since is null. The curve is Ebbinghaus's (Über das Gedächtnis,
-- 1885) as MemoryBank has it (Zhong et al. 2023, arXiv:2305.10250: R = e^(-t/S), each recall adds 1 to S and sets t to
-- 0).
CREATE OR REPLACE FUNCTION memsvc.recall_strength(p_recalls integer, p_since interval, p_half_life interval)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE WHEN p_recalls > 0 AND p_since IS NOT NULL THEN power(2::double precision, - least(
  greatest(date_part('epoch', p_since), 0)
    / (greatest(date_part('epoch', p_half_life), 1) * (1 + p_recalls::double precision)), 1000
)) ELSE 0 END;
COMMENT ON FUNCTION memsvc.recall_strength(integer, interval, interval) IS
  'What was recalled lives longer, 0 to 1: decay since the last recall, slower with each.';

-- How often a memory was recalled, 0 to 1 and saturating: 1/2 after five recalls, 2/3 after ten. Null counts as never.
CREATE OR REPLACE FUNCTION memsvc.familiarity(p_recalls integer) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN greatest(coalesce(p_recalls, 0), 0)::double precision
  / (greatest(coalesce(p_recalls, 0), 0)::double precision + 5);
COMMENT ON FUNCTION memsvc.familiarity(integer) IS 'How often it was recalled, 0 to 1, saturating: n / (n + 5).';

-- Feedback, -1 to 1: (used - irrelevant) / (used + irrelevant + 2), as if one of each had been said before, so that a
-- single verdict moves it by a third. 0 where nobody said anything, also where both are null.
CREATE OR REPLACE FUNCTION memsvc.usefulness(p_used integer, p_irrelevant integer) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN (coalesce(p_used, 0)::double precision - coalesce(p_irrelevant, 0))
  / (coalesce(p_used, 0)::double precision + coalesce(p_irrelevant, 0) + 2);
COMMENT ON FUNCTION memsvc.usefulness(integer, integer) IS
  'Feedback, -1 to 1, smoothed: (used - irrelevant) / (used + irrelevant + 2).';

-- How little one should rely on a fact at p_now, 0 to 1: 1 where it has ended (p_valid_to, null or infinity: it has
-- not); else it rises with the time since it was recorded or last confirmed, by a half-life of two years, up to 1/2.
CREATE OR REPLACE FUNCTION memsvc.staleness(p_valid_to timestamptz, p_recorded timestamptz, p_now timestamptz)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE WHEN p_valid_to <= p_now THEN 1 ELSE (1 - power(2::double precision, - least(
  greatest(date_part('epoch', p_now - p_recorded), 0) / (730 * 86400::double precision), 1000
))) / 2 END;
COMMENT ON FUNCTION memsvc.staleness(timestamptz, timestamptz, timestamptz) IS
  'How stale a fact is, 0 to 1: 1 where it has ended, else rising to 1/2 while nothing confirms it.';
