import { type TSchema, Type } from 'typebox';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: 'date-time' });
const Texts = Type.Array(Type.String());
const Sha256 = Type.String({
  pattern: '^[0-9a-f]{64}$',
  examples: ['4a7d1ed414474e4033ac29ccb8653d9b3e8b1a7c6f0d5e2c9b8a7f6e5d4c3b2a'],
});
const label = Type.String({
  pattern: '^[A-Za-z0-9_./-]{1,100}=[^=]{0,200}$',
  examples: ['env=prod'],
});

export const PackId = Type.String({
  pattern: '^[a-z][a-z0-9-]{1,40}$',
  examples: ['nginx-doctor'],
});
export const RegistryName = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,40}$',
  examples: ['community'],
});
export const Confirm = Type.String({
  pattern: '^[0-9a-f]{64}$',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  description: 'Hash of the preview that was shown',
});
export const Reason = Type.String({ minLength: 1, maxLength: 500 });
export const Path = Type.String({
  maxLength: 400,
  description: 'Folder of the pack within the source',
});

export const WantedPack = Type.Object({
  registry: Type.Optional(Type.String({ ...RegistryName, examples: ['shipped'] })),
  pack_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Name in the registry',
      examples: ['hello'],
    }),
  ),
  version: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
  sha256: Type.Optional(Sha256),
  git: Type.Optional(
    Type.Object({
      url: Type.String({ minLength: 1, maxLength: 2_000 }),
      commit: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{40}$',
          examples: ['2fd4e1c67a2d28fced849ee1bb76e7391b93eb12'],
        }),
      ),
      ref: Type.Optional(
        Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$', examples: ['v1.4.0'] }),
      ),
      path: Type.Optional(Path),
    }),
  ),
  folder: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Path on the machine where svc runs; administrators only',
    }),
  ),
  path: Type.Optional(Path),
});

export const WantedInstall = Type.Object({
  ...WantedPack.properties,
  confirm: Type.Optional(Confirm),
  reason: Type.Optional(Reason),
});

const Source = Type.Object({
  kind: Type.String(),
  from: Type.String(),
  name: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
  commit: Type.Optional(Type.String()),
});
const Server = Type.Object({ name: Type.String(), url: Type.String() });

/** Fields of a pack, whether it is installed or only previewed. */
const about = {
  pack_id: Type.String(),
  name: Type.String(),
  version: Type.String(),
  description: Type.String(),
  layout: Type.Enum(['svc', 'claude', 'skills']),
  source: Source,
  sha256: orNull(Type.String({ description: 'sha256 of the archive' })),
  content_hash: Type.String({
    description:
      "Hash of all the pack's files; configuration files use it to identify the accepted content",
  }),
  signed_by: orNull(
    Type.String({ description: 'Registry whose key signed the pack; null: unsigned' }),
  ),
  verdict: Type.Enum(['pass', 'review', 'block']),
  findings: Type.Array(
    Type.Object({
      rule: Type.String(),
      severity: Type.Enum(['info', 'review', 'block']),
      file: Type.String(),
      line: Type.Integer(),
      message: Type.String(),
    }),
  ),
  skills: Texts,
  agents: Texts,
  mcp_servers: Type.Array(Server),
  permissions: Type.Array(Type.String(), {
    description: "Permissions of the pack's code, as sentences",
  }),
  tools: Type.Array(Type.String(), {
    description: "Tools that the pack's skills and personas refer to",
  }),
  hosts: Type.Array(Type.String(), { description: "Hosts that the pack's texts mention" }),
  scripts: Type.Array(Type.String(), {
    description: 'Executable files; svc runs none of them',
  }),
  ignored: Type.Array(Type.String(), {
    description: 'Parts of the pack that have no effect in svc',
  }),
};

const Files = Type.Array(
  Type.Object({ path: Type.String(), size: Type.Integer(), sha256: Type.String() }),
);

const DifferenceShape = Type.Object({
  from_version: Type.String(),
  files: Type.Object({ added: Texts, removed: Texts, changed: Texts }),
  capabilities: Type.Object({ added: Texts, removed: Texts }),
  texts: Type.Array(Type.String(), {
    description: 'Changed lines in its texts, such as "agents/clerk.md: + Ask first."',
  }),
});

export const PreviewShape = Type.Object({
  ...about,
  files: Files,
  manifest: Type.Record(Type.String(), Type.Unknown()),
  difference: orNull(DifferenceShape),
  needs: Type.Array(Type.String(), {
    description: 'Why confirmation is needed; empty if it is not',
  }),
  warnings: Texts,
  confirm: Type.String(),
});

export const CeilingShape = Type.Object({
  classes: Type.Array(Type.Enum(['safe', 'mutating', 'dangerous']), {
    uniqueItems: true,
    maxItems: 3,
  }),
  tools: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 500,
    description: 'Empty: all',
  }),
  hosts: Type.Array(
    Type.String({ pattern: '^[a-z0-9.-]{1,200}$', examples: ['api.example.org'] }),
    {
      maxItems: 500,
      description:
        "Hosts that tool arguments and the pack's code may use, including subdomains; empty: all",
    },
  ),
  labels: Type.Array(label, {
    maxItems: 100,
    description: 'Device labels, at least one of which must match; empty: all',
  }),
});

export const AdmittedShape = Type.Object({
  personas: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 500, uniqueItems: true }),
  mcp_servers: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, uniqueItems: true }),
});

export const InstalledShape = Type.Object({
  ...about,
  state: Type.Enum(['active', 'disabled', 'failed']),
  error: orNull(Type.String()),
  version_before: orNull(Type.String()),
  linked: orNull(Type.String()),
  ceiling: CeilingShape,
  admitted: AdmittedShape,
  installed_by: Type.String(),
  installed_at: Time,
  updated_at: Time,
});

export const InstalledDetail = Type.Object({ ...InstalledShape.properties, files: Files });

/** Installed pack as declared in a file: ensures the pack, with what was confirmed for it. */
export const PackBody = Type.Object({
  version: Type.String({ minLength: 1, maxLength: 60 }),
  source: Type.Object({
    kind: Type.Enum(['registry', 'url', 'git', 'upload', 'folder']),
    from: Type.String({ minLength: 1, maxLength: 2_000, examples: ['shipped'] }),
    name: Type.Optional(Type.String({ maxLength: 100, examples: ['hello'] })),
    path: Type.Optional(Path),
    commit: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{40}$',
        examples: ['2fd4e1c67a2d28fced849ee1bb76e7391b93eb12'],
      }),
    ),
  }),
  sha256: orNull(Sha256),
  content_hash: Sha256,
  ceiling: CeilingShape,
  admitted: AdmittedShape,
  reason: Type.Optional(Reason),
});

export const InstallAnswer = Type.Object({
  ...InstalledShape.properties,
  warnings: Texts,
  difference: orNull(DifferenceShape),
});

export const RegistryShape = Type.Object({
  name: Type.String(),
  url: Type.String({ description: 'URL, or a path on the machine where svc runs' }),
  title: Type.String(),
  format: Type.Enum(['svc', 'claude']),
  packs: Type.Integer(),
  signed: Type.Boolean({ description: 'Whether its packs are signed with the pinned key' }),
  public_key: orNull(Type.String()),
  error: orNull(Type.String()),
  refreshed_at: orNull(Time),
  added_by: Type.String(),
  added_at: Time,
});

const RegistryUrl = Type.String({
  minLength: 1,
  maxLength: 2_000,
  examples: ['https://example.org/registry'],
});

export const RegistryBody = Type.Object({
  url: RegistryUrl,
  public_key: orNull(Type.String({ maxLength: 200 })),
});

export const NewRegistry = Type.Object({
  name: RegistryName,
  url: RegistryUrl,
  public_key: Type.Optional(Type.String({ maxLength: 200 })),
});

export const OfferShape = Type.Object({
  registry: Type.String(),
  pack_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  publisher: Type.String(),
  homepage: Type.String(),
  versions: Texts,
  signed: Type.Boolean(),
  installed: orNull(Type.String({ description: 'Installed version' })),
});

export const HistoryShape = Type.Object({
  id: Type.Integer(),
  pack_id: Type.String(),
  action: Type.String(),
  version: Type.String(),
  content_hash: Type.String(),
  sha256: orNull(Type.String()),
  verdict: Type.String(),
  reason: orNull(Type.String()),
  done_by: Type.String(),
  done_at: Time,
});
