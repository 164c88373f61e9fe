import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('packs', {
  no_method: ['not_found', 'svc has no method {method} for packs.'],
  redirects: ['upstream_error', '{origin} redirected more than {maxRedirects} times.'],
  fetch_address: [
    'invalid_argument',
    'fetch() only accepts URLs that begin with https:// or http://.',
  ],
  denied_host: [
    'forbidden',
    '{id} is not allowed to call {host}: "hosts" in its permissions lists {hosts}.',
  ],
  beyond_ceiling: ['forbidden', '{id} is not allowed to call {host}: {cause}'],
  fetch_limited: [
    'rate_limited',
    '{id} may make {atOnce} requests at once and {perMinute} per minute; try again later.',
  ],
  fetch_body: ['invalid_argument', 'fetch() cannot send {detail}'],
  files_too_large: [
    'invalid_argument',
    'The files of {id} are larger than {maxBytes} MiB in total; remove files that it does not need.',
  ],
  tables_not_asked: [
    'not_found',
    'svc has no method {method} for this pack: to have its own tables, it must request {ask}.',
  ],
  no_room_for_tables: [
    'invalid_argument',
    '{id} has {name} but no permission for tables: request {ask} in plugin.json.',
  ],
  fetch_form: [
    'invalid_argument',
    'fetch() takes an address and {options}, with up to {maxHeaders} headers.',
  ],
});
