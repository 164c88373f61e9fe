import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_host_key: [
    'not_found',
    '{name} has no key of the host {unknown}; its hosts say which there are',
  ],
  identity_in_use: [
    'conflict',
    'the identity {name} is used by the repository {url}; remove that one first',
  ],
  private_key: ['conflict', 'the private key of {name} cannot be decrypted; make a new identity'],
  no_ssh_identity: [
    'not_found',
    'there is no SSH identity {id}; GET /api/v1/knowledge/ssh-identities lists them',
  ],
  identity_taken: ['conflict', '{what}; use number {id}, or choose another'],
  identity_unusable: [
    'invalid_argument',
    'the private key cannot be used: {problemOf}; paste an ed25519 key without a passphrase, such as "ssh-keygen -t ed25519 -N \'\'" makes, or let svc generate one',
  ],
});
