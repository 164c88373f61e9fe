import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  address_with_user: [
    'invalid_argument',
    'Leave the user name and password out of the address, because other users can see it.',
  ],
  no_registry: [
    'not_found',
    'There is no registry "{name}"; "svc market registries" lists all registries.',
  ],
  registry_address: [
    'invalid_argument',
    'A registry must be an https:// address, or the absolute path of a folder or file on the machine that runs svc, such as /srv/registry.',
  ],
  registry_there: [
    'conflict',
    'A registry "{name}" already exists; choose another name, or remove that one first.',
  ],
  registry_shipped: ['conflict', 'The registry "{name}" is built in and cannot be removed.'],
  no_offer: [
    'not_found',
    'The registry {registry} has no pack "{name}"; refresh it, or search for another name.',
  ],
  registry_insecure: [
    'upstream_error',
    'The registry redirects to an address without TLS, which can be tampered with; add its https:// address.',
  ],
  registry_answer: [
    'upstream_error',
    'The registry responded with status {status}; check its address.',
  ],
  no_index: [
    'invalid_argument',
    'There is no index in {path}: a registry needs {indexFiles}, no larger than {maxBytes} MiB.',
  ],
  registry_refused: ['invalid_argument', 'The registry {message}'],
  list_forged: [
    'conflict',
    'The list from the registry "{name}" is not signed with the registry\'s key, so the previous list is kept; ask its publisher.',
  ],
  list_unsigned: [
    'conflict',
    'The list from the registry "{name}" used to be signed and no longer is, so the previous list is kept; if its publisher confirms the change, remove the registry and add it again.',
  ],
  list_older: [
    'conflict',
    'The registry "{name}" offers a list older than the one signed at {at}, so the newer list is kept; ask its publisher.',
  ],
  list_stale: [
    'conflict',
    'The list from the registry "{name}" expired at {until} and has not been renewed, so newer versions may be missing from it; ask its publisher to publish it again.',
  ],
  registry_equivocates: [
    'conflict',
    'The registry "{name}" offers {version} with different content than before, so its previous list is kept; if its publisher confirms the change, remove the registry and add it again.',
  ],
  registry_overflows: [
    'conflict',
    'The registry "{name}" has offered more than {most} versions, so its previous list is kept; remove the registry and add it again if you trust its publisher.',
  ],
  key_form: [
    'invalid_argument',
    'A registry key must be "ed25519:" followed by 32 bytes in base64, as printed by "svc pack sign".',
  ],
  key_weak: [
    'invalid_argument',
    'The registry\'s key is weak: its signatures match any content; create a key pair with "svc pack sign".',
  ],
});
