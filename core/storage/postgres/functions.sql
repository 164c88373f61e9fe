-- Functions of SQLite that statements use, in the schema of svc. JSON of hostile origin may hold what Postgres takes for no character:
-- U+0000 becomes U+FFFD, half of a pair is left out.
create or replace function svc_schema.json(t text) returns jsonb language sql immutable strict parallel safe as $$
  select case when t ~* '\\u(0000|d[89a-f])'
    then regexp_replace(regexp_replace(t, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g'),
      '(?<!\\)((?:\\\\)*)((?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})+)|(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}',
      '\1\2\3', 'g')::jsonb
    else t::jsonb end $$;

create or replace function svc_schema.plain(j jsonb) returns text language sql immutable strict parallel safe as $$
  select case jsonb_typeof(j) when 'null' then null when 'boolean' then case when j = 'true' then '1' else '0' end else j #>> '{}' end $$;

create or replace function svc_schema.path(p text) returns text[] language sql immutable strict parallel safe as $$
  select case when p ~ '^\$' then coalesce((select array_agg(coalesce(m[1], m[2], m[3]) order by n) from regexp_matches(p, '\."([^"]*)"|\.([^.\[]+)|\[(\d+)\]', 'g') with ordinality as r (m, n)), '{}') else array[p] end $$;

create or replace function svc_schema.json_extract(t text, p text) returns text language sql immutable strict parallel safe as $$
  select svc_schema.plain(svc_schema.json(t) #> svc_schema.path(p)) $$;
create or replace function svc_schema.json_at(t text, p text) returns text language sql immutable strict parallel safe as $$
  select (svc_schema.json(t) #> svc_schema.path(p))::text $$;
create or replace function svc_schema.json_extract(t text, i bigint) returns text language sql immutable strict parallel safe as $$
  select svc_schema.plain(svc_schema.json(t) -> i::integer) $$;
create or replace function svc_schema.json_at(t text, i bigint) returns text language sql immutable strict parallel safe as $$
  select (svc_schema.json(t) -> i::integer)::text $$;
create or replace function svc_schema.json_extract(t text, i integer) returns text language sql immutable strict parallel safe as $$
  select svc_schema.plain(svc_schema.json(t) -> i) $$;
create or replace function svc_schema.json_at(t text, i integer) returns text language sql immutable strict parallel safe as $$
  select (svc_schema.json(t) -> i)::text $$;

do $$ declare kind text; begin
  foreach kind in array array['text', 'bigint', 'integer'] loop
    if to_regoperator('svc_schema.->>(text, ' || kind || ')') is null then
      execute 'create operator svc_schema.->> (leftarg = text, rightarg = ' || kind || ', function = svc_schema.json_extract)';
      execute 'create operator svc_schema.-> (leftarg = text, rightarg = ' || kind || ', function = svc_schema.json_at)';
    end if;
  end loop;
end $$;

create or replace function svc_schema.json_each(t text) returns table (key text, value text, type text) language sql immutable parallel safe rows 20 as $$
  select e.key, case when jsonb_typeof(e.value) in ('object', 'array') then e.value::text else svc_schema.plain(e.value) end, jsonb_typeof(e.value)
  from jsonb_each(case when jsonb_typeof(svc_schema.json(t)) = 'object' then svc_schema.json(t) else '{}' end) as e
  union all
  select (e.n - 1)::text, case when jsonb_typeof(e.value) in ('object', 'array') then e.value::text else svc_schema.plain(e.value) end, jsonb_typeof(e.value)
  from jsonb_array_elements(case jsonb_typeof(svc_schema.json(t)) when 'array' then svc_schema.json(t) when 'object' then '[]' else jsonb_build_array(svc_schema.json(t)) end) with ordinality as e (value, n) $$;

create or replace function svc_schema.json_each(t text, p text) returns table (key text, value text, type text) language sql immutable parallel safe rows 20 as $$
  select * from svc_schema.json_each(svc_schema.json_at(t, p)) $$;

create or replace function svc_schema.json_array_length(t text) returns bigint language sql immutable strict parallel safe as $$
  select case jsonb_typeof(svc_schema.json(t)) when 'array' then jsonb_array_length(svc_schema.json(t)) else 0 end $$;
create or replace function svc_schema.json_array_length(t text, p text) returns bigint language sql immutable strict parallel safe as $$
  select svc_schema.json_array_length(svc_schema.json_at(t, p)) $$;
create or replace function svc_schema.json_type(t text) returns text language sql immutable strict parallel safe as $$
  select case jsonb_typeof(svc_schema.json(t)) when 'string' then 'text' when 'boolean' then (svc_schema.json(t))::text when 'number' then case when t ~ '[.eE]' then 'real' else 'integer' end else jsonb_typeof(svc_schema.json(t)) end $$;
create or replace function svc_schema.json_type(t text, p text) returns text language sql immutable strict parallel safe as $$
  select svc_schema.json_type(svc_schema.json_at(t, p)) $$;
create or replace function svc_schema.json_valid(t text) returns bigint language plpgsql immutable strict parallel safe as $$
  begin perform svc_schema.json(t); return 1; exception when others then return 0; end $$;
create or replace function svc_schema.json_array(variadic v text[]) returns text language sql immutable parallel safe as $$
  select coalesce(jsonb_agg(to_jsonb(e) order by n), '[]')::text from unnest(v) with ordinality as u (e, n) $$;
create or replace function svc_schema.json_item(state jsonb, v anyelement) returns jsonb language sql immutable parallel safe as $$
  select state || jsonb_build_array(v) $$;
create or replace function svc_schema.json_text(state jsonb) returns text language sql immutable parallel safe as $$ select state::text $$;

create or replace function svc_schema.instr(t text, part text) returns bigint language sql immutable strict parallel safe as $$ select strpos(t, part) $$;
create or replace function svc_schema.char(code bigint) returns text language sql immutable strict parallel safe as $$ select chr(code::integer) $$;
create or replace function svc_schema.substr(t text, at bigint) returns text language sql immutable strict parallel safe as $$ select pg_catalog.substr(t, at::integer) $$;
create or replace function svc_schema.substr(t text, at bigint, size bigint) returns text language sql immutable strict parallel safe as $$ select pg_catalog.substr(t, at::integer, size::integer) $$;
create or replace function svc_schema.hex(b bytea) returns text language sql immutable strict parallel safe as $$ select upper(encode(b, 'hex')) $$;
create or replace function svc_schema.hex(t text) returns text language sql immutable strict parallel safe as $$ select upper(encode(convert_to(t, 'UTF8'), 'hex')) $$;
create or replace function svc_schema.iif(c boolean, a anycompatible, b anycompatible) returns anycompatible language sql immutable parallel safe as $$ select case when c then a else b end $$;
create or replace function svc_schema.ifnull(a anycompatible, b anycompatible) returns anycompatible language sql immutable parallel safe as $$ select coalesce(a, b) $$;
create or replace function svc_schema.max(a anycompatible, b anycompatible) returns anycompatible language sql immutable parallel safe as $$ select case when a is null or b is null then null else greatest(a, b) end $$;
create or replace function svc_schema.min(a anycompatible, b anycompatible) returns anycompatible language sql immutable parallel safe as $$ select case when a is null or b is null then null else least(a, b) end $$;
create or replace function svc_schema.max(a anycompatible, b anycompatible, c anycompatible) returns anycompatible language sql immutable parallel safe as $$ select case when a is null or b is null or c is null then null else greatest(a, b, c) end $$;
create or replace function svc_schema.min(a anycompatible, b anycompatible, c anycompatible) returns anycompatible language sql immutable parallel safe as $$ select case when a is null or b is null or c is null then null else least(a, b, c) end $$;
create or replace function svc_schema.round(v double precision) returns double precision language sql immutable strict parallel safe as $$ select round(v::numeric)::double precision $$;
create or replace function svc_schema.round(v double precision, digits integer) returns double precision language sql immutable strict parallel safe as $$ select round(v::numeric, digits)::double precision $$;
create or replace function svc_schema.random() returns bigint language sql volatile as $$ select (pg_catalog.random() * 9007199254740991)::bigint $$;
create or replace function svc_schema.randomblob(size integer) returns bytea language sql volatile as $$
  select substring(string_agg(uuid_send(gen_random_uuid()), '') from 1 for size) from generate_series(1, size / 16 + 1) $$;
create or replace function svc_schema.unixepoch(mode text) returns double precision language sql stable as $$ select extract(epoch from clock_timestamp())::double precision $$;
create or replace function svc_schema.unixepoch() returns bigint language sql stable as $$ select floor(extract(epoch from clock_timestamp()))::bigint $$;
create or replace function svc_schema.typeof(v anyelement) returns text language sql stable as $$
  select case when v is null then 'null' else case pg_typeof(v)::text when 'text' then 'text' when 'bytea' then 'blob' when 'double precision' then 'real' when 'numeric' then 'real' else 'integer' end end $$;

create or replace function svc_schema.to_integer(v bigint) returns bigint language sql immutable parallel safe as $$ select v $$;
create or replace function svc_schema.to_integer(v double precision) returns bigint language sql immutable strict parallel safe as $$ select trunc(v)::bigint $$;
create or replace function svc_schema.to_integer(v numeric) returns bigint language sql immutable strict parallel safe as $$ select trunc(v)::bigint $$;
create or replace function svc_schema.to_integer(v boolean) returns bigint language sql immutable strict parallel safe as $$ select v::integer::bigint $$;
create or replace function svc_schema.to_integer(v text) returns bigint language sql immutable strict parallel safe as $$
  select coalesce(trunc(least(greatest(substring(v from '^\s*([+-]?\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?)')::numeric, -9223372036854775808), 9223372036854775807))::bigint, 0) $$;
create or replace function svc_schema.to_real(v double precision) returns double precision language sql immutable parallel safe as $$ select v $$;
create or replace function svc_schema.to_real(v bigint) returns double precision language sql immutable parallel safe as $$ select v::double precision $$;
create or replace function svc_schema.to_real(v numeric) returns double precision language sql immutable parallel safe as $$ select v::double precision $$;
create or replace function svc_schema.to_real(v text) returns double precision language sql immutable strict parallel safe as $$
  select coalesce(substring(v from '^\s*([+-]?\d{1,255}(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)')::double precision, 0) $$;

do $$ begin
  if to_regprocedure('svc_schema.total(double precision)') is null then
    create aggregate svc_schema.total(double precision) (sfunc = float8pl, stype = double precision, initcond = '0');
    create aggregate svc_schema.json_group_array(anyelement) (sfunc = svc_schema.json_item, stype = jsonb, initcond = '[]', finalfunc = svc_schema.json_text);
  end if;
  if to_regcollation('svc_schema.nocase') is null then
    create collation svc_schema.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  end if;
end $$;

create or replace view svc_schema.sqlite_schema as
  select 'trigger' as type, t.tgname::text as name, c.relname::text as tbl_name from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
  where not t.tgisinternal and c.relnamespace = to_regnamespace('svc_schema')
  union all
  select case when c.relkind = 'i' then 'index' when c.relkind = 'v' then 'view' else 'table' end, c.relname::text, coalesce(i.relname, c.relname)::text
  from pg_class as c left join pg_index as x on x.indexrelid = c.oid left join pg_class as i on i.oid = x.indrelid
  where c.relkind in ('r', 'i', 'v') and c.relnamespace = to_regnamespace('svc_schema');

-- Begins each group of a svc that owns the data for an epoch. The lock keeps a successor, who changes the key, waiting until the group has ended,
-- and lets the owner renew its lease meanwhile.
create or replace function svc_schema.require_owner(who text, since bigint) returns void language plpgsql as $$ declare owner record; begin
  perform from svc_schema.core_owner where epoch = since and node = who for key share;
  if not found then
    select * into owner from svc_schema.core_owner;
    raise exception using errcode = 'SVC01', message = format('node %s owns the data since epoch %s, and this process did in epoch %s', owner.node, owner.epoch, since);
  end if;
end $$;
