import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  path_form: ['invalid_argument', 'the path {text} {problem}'],
  no_version: [
    'not_found',
    'version {version} of document {id} is not kept; GET {docs}/{id}/versions lists those that are',
  ],
  stale_edit: [
    'conflict',
    'the document is at version {version}, and you changed version {editVersion}; load it again and repeat your change',
  ],
  move_into_itself: [
    'invalid_argument',
    'the folder {source} cannot move to {target}, which is itself or lies in it; name another place',
  ],
  no_folder: ['not_found', 'there is no folder {source}; GET /api/v1/knowledge/paths lists them'],
  too_many_to_move: [
    'invalid_argument',
    'the folder {source} holds {count} documents; at most {maxMoved} move at once: move its folders one by one',
  ],
  unknown_document: [
    'not_found',
    'there is no document {id}; GET /api/v1/knowledge/docs lists them',
  ],
  house_wide: [
    'forbidden',
    'documents without org_id are read by everyone; write into an organization of yours, with its number as org_id',
  ],
  of_repository: [
    'conflict',
    '{path} comes from a Git repository and is read-only here; change it there and sync',
  ],
  of_vault: [
    'conflict',
    '{path} is kept up to date by svc and is read-only; write your own beside it, or change it with "adopt": true, after which it is yours and no sync touches it',
  ],
  path_taken: [
    'conflict',
    'there is a document at {path} already{detail}; change that one, or choose another path',
  ],
  no_organization: [
    'not_found',
    'there is no organization {org} of yours; GET /api/v1/orgs lists them',
  ],
  document_too_large: [
    'invalid_argument',
    'the document has {size} bytes of text, at most {maxBytes} are possible; part it into several',
    413,
  ],
  lone_surrogate: [
    'invalid_argument',
    'the content has half of a character in it (a lone surrogate) and could not be kept as it is; correct it',
  ],
  plugin_folder: [
    'invalid_argument',
    '{folder} is no folder for documents of a plugin; name one at the top, but not vault',
  ],
});
