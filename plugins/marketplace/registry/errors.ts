import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  address_with_user: [
    'invalid_argument',
    'a user or a password in an address would be shown to all who look at it; name it without them',
  ],
  no_registry: ['not_found', 'there is no registry "{name}"; look with "svc market registries"'],
  registry_address: [
    'invalid_argument',
    'a registry is an https:// address, or the absolute path of a folder or file on the machine of svc, such as /srv/registry',
  ],
  registry_there: [
    'conflict',
    'there is a registry "{name}" already; choose another name, or remove that one first',
  ],
  registry_shipped: ['conflict', 'the registry "{name}" comes with svc and stays'],
  no_offer: [
    'not_found',
    'the registry {registry} offers no pack "{name}"; refresh it, or search for another name',
  ],
  registry_insecure: [
    'upstream_error',
    'registry redirects to an address without TLS, which can be altered on the way; add its https:// address',
  ],
  registry_answer: ['upstream_error', 'the registry answered {status}; check its address'],
  no_index: [
    'invalid_argument',
    'there is no index in {path}: a registry has {indexFiles}, of at most {maxBytes} MiB',
  ],
  registry_refused: ['invalid_argument', 'the registry {message}'],
  key_form: [
    'invalid_argument',
    'the key of a registry is "ed25519:" and 32 bytes in base64, as "svc pack sign" shows it',
  ],
  key_weak: [
    'invalid_argument',
    'the key of a registry is one of the few whose signatures fit any content; make a pair with "svc pack sign"',
  ],
});
