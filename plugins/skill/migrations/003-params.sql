-- Params of the call whose result it is, as guarded JSON; NULL: of a version that did not keep them.
ALTER TABLE skill_evidence ADD COLUMN params TEXT;
