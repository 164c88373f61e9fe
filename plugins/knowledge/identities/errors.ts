import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_host_key: [
    'not_found',
    "{name} has no host key for {unknown}; the identity's details list its known hosts.",
  ],
  identity_in_use: [
    'conflict',
    'The identity {name} is used by the repository {url}; delete that one first.',
  ],
  private_key: [
    'conflict',
    'The private key of {name} cannot be decrypted; create a new identity.',
  ],
  no_ssh_identity: [
    'not_found',
    'There is no SSH identity {id}; GET /api/v1/knowledge/ssh-identities lists all identities.',
  ],
  identity_taken: ['conflict', '{what}; use identity {id}, or choose another name and key.'],
  identity_unusable: [
    'invalid_argument',
    'The private key cannot be used: {problemOf}; paste an ed25519, ECDSA or RSA key with its passphrase, if it has one, or let svc generate a key.',
  ],
  no_key_program: [
    'unavailable',
    'Keys with a passphrase, and keys other than ed25519, are read by ssh-keygen, which is not available; install openssh-client and enable the programs plugin.',
  ],
});
