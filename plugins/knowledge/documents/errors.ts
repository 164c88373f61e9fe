import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  path_form: ['invalid_argument', 'The path {text} {problem}'],
  no_version: [
    'not_found',
    'Version {version} of document {id} is not stored; GET {docs}/{id}/versions lists the stored ones.',
  ],
  stale_edit: [
    'conflict',
    'The document is at version {version}, but you changed version {editVersion}; load it again and repeat your change.',
  ],
  move_into_itself: [
    'invalid_argument',
    'The folder {source} cannot be moved into itself ({target}); choose another destination.',
  ],
  no_folder: [
    'not_found',
    'There is no folder {source}; GET /api/v1/knowledge/paths lists all folders.',
  ],
  too_many_to_move: [
    'invalid_argument',
    'The folder {source} has {count} documents, but at most {maxMoved} can be moved at once: move its subfolders one by one.',
  ],
  unknown_document: [
    'not_found',
    'There is no document {id}; GET /api/v1/knowledge/docs lists all documents.',
  ],
  house_wide: [
    'forbidden',
    'Documents without org_id are visible to everyone; add the document to one of your organizations, with its id as org_id.',
  ],
  of_repository: [
    'conflict',
    'Document {id} comes from a Git repository and is read-only here; change it there and sync.',
  ],
  of_vault: [
    'conflict',
    'Document {id} is maintained by svc and is read-only; write your own document next to it, or change this one with "adopt": true, which makes it yours and excludes it from syncs.',
  ],
  path_taken: [
    'conflict',
    'A document already exists at {path}{detail}; edit that document, or choose another path.',
  ],
  no_organization: [
    'not_found',
    'You do not belong to organization {org}; GET /api/v1/orgs lists your organizations.',
  ],
  document_too_large: [
    'invalid_argument',
    'The document has {size} bytes of text, but the limit is {maxBytes}; split it.',
    413,
  ],
  lone_surrogate: [
    'invalid_argument',
    'The content contains invalid Unicode (a lone surrogate); correct it.',
  ],
  plugin_folder: [
    'invalid_argument',
    'A plugin cannot store documents in {folder}; use a top-level folder other than vault.',
  ],
});
