import { byteRoute, type Call, type RouteDeclaration } from 'svc/sdk';

import { docPath, nameOf, unseen } from '../documents/doc-path.ts';
import type { Library } from '../documents/library.ts';
import { shownWhole } from '../documents/schema.ts';
import { errors } from './errors.ts';
import { kindOf, plainText } from './kind.ts';
import { formOf } from './multipart.ts';
import type { Parser } from './parser.ts';
import type { UploadRoom } from './upload-room.ts';

const maxFile = 16 * 1024 * 1024;
const maxForm = maxFile + 64 * 1024;
const folder = 'uploads';

/** `POST /api/v1/knowledge/upload`: a form with `file`, and `path`, `title`, `tags`, `org_id`, `replace` where they are wanted. */
export function uploadRoute(library: Library, parser: Parser, room: UploadRoom): RouteDeclaration {
  return byteRoute({
    method: 'POST',
    path: '/api/v1/knowledge/upload',
    access: 'knowledge:create',
    devices: 'narrowed',
    reads: 'none',
    summary: 'Upload a file as a document: markdown, text, PDF or Word',
    description:
      'A form (multipart/form-data) with the field "file" and, optionally, "path" (default: uploads/ followed by the file name), "title", "tags" (comma-separated), "org_id" and "replace" (true: store the file as the next version of the existing upload). The type is detected from the content.',
    consumes: ['multipart/form-data'],
    produces: 'application/json',
    maxBodyBytes: maxForm,
    timeoutMs: 90_000,
    status: 201,
    errors: ['conflict', 'not_found', 'rate_limited', 'unavailable'],
    admit: () => room.admit(),
    handle: async (call) => JSON.stringify(shownWhole(await upload(call, library, parser))),
  });
}

async function upload(
  call: Call<unknown, unknown, Uint8Array>,
  library: Library,
  parser: Parser,
): ReturnType<Library['upload']> {
  const { file, fields } = formOf(call.body, call.headers['content-type'], [
    'path',
    'title',
    'tags',
    'org_id',
    'replace',
  ]);
  if (file.bytes.length > maxFile) {
    throw errors.file_too_large({ maxFile: maxFile / 1024 / 1024 });
  }
  const path = docPath(
    fields['path'] === undefined || fields['path'] === ''
      ? `${folder}/${plainName(file.name)}`
      : fields['path'],
  );
  const { tags, org } = placeFields(fields);
  // Before anything is read: what cannot have its place need not be parsed.
  const draft = { path, tags, ...(org !== undefined && { org_id: org }) };
  const kind = kindOf(file.bytes);
  const { text, title } =
    kind === 'text'
      ? { text: plainText(file.bytes), title: undefined }
      : await parser.textOf(file.bytes, call.signal);
  // The headings of a PDF are its pages.
  const given = [
    fields['title']?.trim(),
    title,
    kind === 'pdf' ? nameOf(path).replace(/\.\w+$/, '') : undefined,
  ].find((name) => (name ?? '') !== '');
  return await library.upload(
    call,
    { ...draft, content: text, title: given },
    fields['replace'] === 'true',
  );
}

/** The last part of what the sender calls the file, without what a path may not have. */
function plainName(name: string): string {
  const plain = nameOf(name.normalize('NFC').replaceAll('\\', '/')).replaceAll(unseen, '').trim();
  return plain === '' || plain === '.' || plain === '..' ? 'document' : plain;
}

/** Returns the tags and the organization of a form; throws for invalid ones. */
export function placeFields(fields: Readonly<Record<string, string>>): {
  readonly tags: readonly string[];
  readonly org: number | undefined;
} {
  const tags = (fields['tags'] ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  const org = fields['org_id'] === undefined ? undefined : Number(fields['org_id']);
  if (
    tags.length > 32 ||
    tags.some((tag) => tag.length > 60) ||
    (fields['title'] ?? '').length > 200 ||
    (org !== undefined && !(Number.isSafeInteger(org) && org > 0))
  ) {
    throw errors.upload_fields();
  }
  return { tags, org };
}
