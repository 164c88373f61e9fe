import { byteRoute, type Call, type RouteDeclaration } from 'svc/sdk';

import { docPath, unseen } from '../documents/doc-path.ts';
import {
  assertOwn,
  type ImportResult,
  type Library,
  maxBytes,
  refuseForeignOrg,
} from '../documents/library.ts';
import type { ExportedDoc } from './archive-export.ts';
import { errors } from './errors.ts';
import { formOf } from './multipart.ts';
import type { Parser } from './parser.ts';
import { placeFields } from './upload-route.ts';
import type { UploadRoom } from './upload-room.ts';

const maxFile = 48 * 1024 * 1024;
const maxForm = maxFile + 64 * 1024;
const folder = 'imports';
const maxParts = 12;
const maxOfPart = 120;
const maxPath = 360;

/** `POST /api/v1/knowledge/import`: a form with `file`, and `path`, `tags`, `org_id` where they are wanted. */
export const importRoute = (library: Library, parser: Parser, room: UploadRoom): RouteDeclaration =>
  byteRoute({
    method: 'POST',
    path: '/api/v1/knowledge/import',
    access: 'knowledge:create',
    devices: 'narrowed',
    reads: 'none',
    summary: 'Import the export of a Confluence space or a Notion workspace',
    description:
      'A form (multipart/form-data) with the field "file", a ZIP archive: from Confluence as HTML, from Notion as Markdown & CSV. Optional fields: "path" (folder, default: imports), "tags" (comma-separated) and "org_id". A later import updates the documents of an earlier one; documents that other users have written at these paths are kept.',
    consumes: ['multipart/form-data'],
    produces: 'application/json',
    maxBodyBytes: maxForm,
    timeoutMs: 120_000,
    status: 201,
    errors: ['not_found', 'rate_limited', 'unavailable'],
    admit: () => room.admit(),
    handle: async (call) => JSON.stringify(await imported(call, library, parser)),
  });

async function imported(
  call: Call<unknown, unknown, Uint8Array>,
  library: Library,
  parser: Parser,
): Promise<ImportResult & { readonly skipped: number }> {
  const { file, fields } = formOf(call.body, call.headers['content-type'], [
    'path',
    'tags',
    'org_id',
  ]);
  if (file.bytes.length > maxFile) {
    throw errors.file_too_large({ maxFile: maxFile / 1024 / 1024 });
  }
  const below = docPath((fields['path'] ?? '').replace(/\/+$/, '') || folder);
  const { tags, org } = placeFields(fields);
  // Before anything is read: what cannot have its place need not be parsed.
  refuseForeignOrg(call.principal, org ?? null);
  assertOwn(call.principal, org ?? null);
  const { documents, skipped } = await parser.exportOf(file.bytes, call.signal);
  const fitting = documents.filter(({ text }) => Buffer.byteLength(text) <= maxBytes);
  const taken = new Set<string>();
  const drafts = fitting.map(({ path, title, text }: ExportedDoc) => ({
    path: free(`${below}/${plainPath(path)}`, taken),
    title: wellFormed(title.replaceAll(unseen, '').trim().slice(0, 200)) || undefined,
    content: wellFormed(text),
    tags,
    ...(org !== undefined && { org_id: org }),
  }));
  return {
    ...(await library.importAll(call, below, drafts)),
    skipped: skipped + documents.length - fitting.length,
  };
}

/** Returns a path of an export without what a path here may not have. */
function plainPath(path: string): string {
  const parts = path
    .split('/')
    .map((part) => cut(part.replaceAll(unseen, '').replaceAll('\\', '-').trim(), maxOfPart))
    .filter((part) => part !== '' && part !== '.' && part !== '..');
  const kept = parts.length > maxParts ? [...parts.slice(0, maxParts - 1), parts.at(-1)!] : parts;
  while (Buffer.byteLength(kept.join('/')) > maxPath - maxOfPart && kept.length > 1) {
    kept.splice(kept.length - 2, 1);
  }
  return wellFormed(kept.join('/')).normalize('NFC') || 'page.md';
}

/** Cuts a name between its characters; what it is called at its end stays. */
function cut(name: string, most: number): string {
  const ending = /\.md$/i.exec(name)?.[0] ?? '';
  let stem = name.slice(0, name.length - ending.length);
  while (Buffer.byteLength(stem) > most - ending.length) {
    stem = Array.from(stem).slice(0, -1).join('');
  }
  return `${stem.trim()}${ending}`;
}

/** Two pages of one name are told apart by a number. */
function free(path: string, taken: Set<string>): string {
  let found = path;
  for (let number = 2; taken.has(found); number++) {
    found = path.replace(/(\.md)?$/i, (ending) => ` ${number}${ending}`);
  }
  taken.add(found);
  return docPath(found);
}

const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
