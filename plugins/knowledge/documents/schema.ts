import { timestamp } from 'svc/sdk';
import { type Static, type TSchema, Type } from 'typebox';

import type { DocRow, VersionRow, WholeDoc } from './tables.ts';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Instant = Type.String({ format: 'date-time' });
const Path = Type.String({
  minLength: 1,
  maxLength: 400,
  description: 'Such as runbooks/db/restart.md',
});
const Title = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  description: 'Default: the first heading or, if there is none, the file name',
});
export const Tag = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: '^[^\\s,][^,]*$',
  examples: ['runbook'],
});
const Tags = Type.Array(Tag, { maxItems: 32 });
export const maxLetters = 1_048_576;
const Content = Type.String({
  maxLength: maxLetters,
  description: 'Markdown, kept byte for byte',
});
const SourceName = Type.Enum(['manual', 'upload', 'repo', 'vault']);

export const DocId = Type.Object({ id: Id });
export const VersionId = Type.Object({
  id: Id,
  version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});

export const DocQuery = Type.Object({
  path_prefix: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 400,
      description: 'A folder and everything below it, or one document',
    }),
  ),
  path: Type.Optional(Path),
  tag: Type.Optional(Tag),
  source: Type.Optional(SourceName),
});
export const PathQuery = Type.Object({
  path_prefix: Type.Optional(
    Type.String({ minLength: 1, maxLength: 400, description: 'Only folders below this one' }),
  ),
});

export const DocDraft = Type.Object({
  path: Path,
  title: Type.Optional(Title),
  content: Content,
  tags: Type.Optional(Tags),
  org_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only members of this organization may read the document. Default: everyone',
    }),
  ),
});
export const DocEdit = Type.Object({
  title: Type.Optional(Title),
  content: Type.Optional(Content),
  tags: Type.Optional(Tags),
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The version that you read; if the current version differs, the request fails with a conflict, as with If-Match',
    }),
  ),
  adopt: Type.Optional(
    Type.Boolean({
      description: 'Makes a vault document your own; syncs no longer change it',
    }),
  ),
});
export const Move = Type.Object({ path: Path });
export const FolderMove = Type.Object(
  { from: Path, to: Path },
  { examples: [{ from: 'runbooks/db', to: 'runbooks/database' }] },
);
export const FolderMoved = Type.Object({
  from: Type.String(),
  to: Type.String(),
  documents: Type.Integer(),
});

export const DocItem = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  path: Type.String(),
  source: SourceName,
  repo_id: orNull(Type.Integer()),
  org_id: orNull(
    Type.Integer({ description: 'Only members of this organization may read the document' }),
  ),
  tags: Type.Array(Type.String()),
  version: Type.Integer({
    description: 'Incremented with every change to the title, tags or content',
  }),
  size_bytes: Type.Integer(),
  created_by: Type.String(),
  created_at: Instant,
  updated_at: Instant,
});
export const DocDetail = Type.Intersect([DocItem, Type.Object({ content: Type.String() })]);

export const FolderItem = Type.Object({
  path: Type.String(),
  name: Type.String(),
  parent: Type.String({ description: 'Parent folder; empty: the root' }),
  documents: Type.Integer({ description: 'Number of documents in the folder' }),
  total: Type.Integer({ description: 'Number of documents in the folder and below it' }),
});

const versionFields = {
  version: Type.Integer(),
  title: Type.String(),
  tags: Type.Array(Type.String()),
  size_bytes: Type.Integer(),
  changed_by: Type.String(),
  changed_at: Instant,
};
export const VersionItem = Type.Object(versionFields);
export const VersionDetail = Type.Object({ ...versionFields, content: Type.String() });

export const shownDoc = ({
  id,
  title,
  path,
  source,
  repo_id,
  org_id,
  tags,
  version,
  size_bytes,
  created_by,
  created_at,
  updated_at,
}: DocRow): Static<typeof DocItem> => ({
  id,
  title,
  path,
  source,
  repo_id,
  org_id,
  tags: JSON.parse(tags) as string[],
  version,
  size_bytes,
  created_by,
  created_at: timestamp(created_at),
  updated_at: timestamp(updated_at),
});

export const shownWhole = (doc: WholeDoc): Static<typeof DocDetail> => ({
  ...shownDoc(doc),
  content: doc.content,
});

export const shownVersion = ({
  version,
  title,
  tags,
  size_bytes,
  changed_by,
  changed_at,
}: Omit<VersionRow, 'content'>): Static<typeof VersionItem> => ({
  version,
  title,
  tags: JSON.parse(tags) as string[],
  size_bytes,
  changed_by,
  changed_at: timestamp(changed_at),
});
