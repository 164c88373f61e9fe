import { listRoute, route, type RouteDeclaration } from 'svc/sdk';
import { type TSchema, Type } from 'typebox';

import type { Identities } from './identities.ts';

const path = '/api/v1/knowledge/ssh-identities';
const access = 'knowledge:identity';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Instant = Type.String({ format: 'date-time' });
const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\s\\p{Cc}]([^\\p{Cc}]*[^\\s\\p{Cc}])?$',
  description: 'unique',
});
const Comment = Type.String({
  maxLength: 200,
  pattern: '^[^\\p{Cc}]*$',
  description: 'Comment after the public key',
});
const IdentityId = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});

const Draft = Type.Object({ name: Name, comment: Type.Optional(Comment) });
const Registration = Type.Object({
  name: Name,
  comment: Type.Optional(Comment),
  private_key: Type.String({
    minLength: 1,
    maxLength: 16_384,
    writeOnly: true,
    description:
      'An ed25519, ECDSA or RSA key (2048 bits or more), in the format that ssh-keygen writes',
  }),
  passphrase: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: '^\\P{Cc}+$',
      writeOnly: true,
      description: 'Passphrase of the key; it is used once and not stored',
    }),
  ),
});
const Change = Type.Object({
  name: Type.Optional(Name),
  comment: Type.Optional(Comment),
  forget_hosts: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
      maxItems: 100,
      description:
        "Hosts whose pinned keys are to be removed: the next key that each host presents is trusted, so compare it with the server's actual key",
    }),
  ),
});

const Shown = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  comment: Type.String(),
  public_key: Type.String({
    description: 'Public key to add on the Git server; the private key never leaves svc',
  }),
  fingerprint: Type.String(),
  hosts: Type.Array(
    Type.Object({
      host: Type.String(),
      algorithm: Type.String(),
      fingerprint: Type.String(),
      pinned_at: Instant,
    }),
    {
      description:
        'Servers that this identity has been used with, and the key that each first presented; other keys are refused',
    },
  ),
  created_by: Type.String(),
  created_at: Instant,
  last_used_at: orNull(Instant),
});

export const identityRoutes = (identities: Identities): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access,
    summary: 'List SSH keys for Git, newest first',
    items: Shown,
    handle: ({ page }) => identities.list(page),
  }),
  route({
    method: 'POST',
    path,
    access,
    reads: 'none',
    body: Registration,
    response: Shown,
    errors: ['conflict'],
    summary: 'Import an existing SSH key',
    handle: (call) => identities.register(call, call.body),
  }),
  route({
    method: 'POST',
    path: `${path}/generate`,
    access,
    reads: 'none',
    body: Draft,
    response: Shown,
    status: 201,
    errors: ['conflict'],
    summary: 'Create an ed25519 key pair; the private key never leaves svc',
    handle: (call) => identities.generate(call, call.body),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    access,
    params: IdentityId,
    reads: 'none',
    body: Change,
    response: Shown,
    errors: ['not_found', 'conflict'],
    summary: 'Update the name or comment of an SSH key, or unpin host keys',
    handle: (call) => identities.change(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access,
    params: IdentityId,
    errors: ['not_found', 'conflict'],
    summary: 'Delete an SSH key that no repository uses',
    handle: (call) => identities.remove(call, call.params.id),
  }),
];
