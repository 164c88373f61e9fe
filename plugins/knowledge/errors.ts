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
    'documents without org_id are read by everybody; write into an organization of yours, with its number as org_id',
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
  embedding_answer: [
    'upstream_error',
    'the embedding model {model} answered {count} vectors for {textsCount} texts, or some that are no vectors',
  ],
  embedding_status: [
    'upstream_error',
    'the embedding model {model} answered {status}; see knowledge.embedding_url, _model and _key',
  ],
  embedding_not_json: ['upstream_error', 'the embedding model {model} did not answer with JSON'],
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
  programs_away: [
    'unavailable',
    'the plugin programs is away, which starts git; enable it and sync again',
  ],
  program_missing: [
    'unavailable',
    '{name} is not installed on this machine (Debian: apt-get install {debian}); install it and sync again',
  ],
  git_too_old: [
    'unavailable',
    'git {oldest} or newer is needed, and {file} is {major}.{minor}; install a newer one',
  ],
  repo_address: ['invalid_argument', 'the address of the repository {address}'],
  no_repository: [
    'not_found',
    'there is no repository {id}; GET /api/v1/knowledge/repos lists them',
  ],
  not_a_member: [
    'not_found',
    'there is no organization {org} that you belong to; GET /api/v1/orgs lists them',
  ],
  ssh_credentials: [
    'invalid_argument',
    'a repository over SSH takes an ssh_identity_id, and neither username nor password; its user stands in the address',
  ],
  https_credentials: [
    'invalid_argument',
    'a repository over HTTPS takes username and password together, or neither, and no ssh_identity_id',
  ],
  vault_mount: [
    'invalid_argument',
    'the folder vault is for the playbooks of svc; choose another mount',
  ],
  mount_taken: [
    'conflict',
    'repository {id} has its documents in {mount}; choose another mount, beside it',
  ],
  clone_name: [
    'internal',
    'the folder of a repository has another name than it was given; restore the database',
  ],
  no_document: [
    'not_found',
    'there is no document {doc}; "svc knowledge list" and "svc knowledge search" show those there are',
  ],
  no_vectors: [
    'conflict',
    'no embedding model answers: set knowledge.embedding_model, or search with mode=hybrid, which does without',
  ],
  no_index: ['unavailable', 'there is no {which} index of documents'],
  first_index: [
    'unavailable',
    'documents are being indexed for the first time; search again in a moment',
  ],
  not_indexed: [
    'not_found',
    'there is no document {document}; knowledge.search finds documents by what they say',
  ],
  no_parser: [
    'unavailable',
    'PDF and Word documents are read in a process of their own, and the plugin programs is away; .md and .txt can be uploaded',
  ],
  too_many_reads: [
    'rate_limited',
    'many files are being read at this moment; upload it again in a while',
  ],
  upload_cancelled: ['unavailable', 'the upload was given up before its turn came'],
  too_many_uploads: [
    'rate_limited',
    'many files are being uploaded at this moment; try again in a while',
  ],
  file_too_large: ['invalid_argument', 'the file is larger than {maxFile} MiB', 413],
  upload_fields: [
    'invalid_argument',
    'a document has at most 32 tags of 60 letters and a title of 200, and org_id is a number',
  ],
  file_field: [
    'invalid_argument',
    'the form needs one field "file" with a name of a file, and has another one',
  ],
  unknown_field: [
    'invalid_argument',
    'the form has a field {name}, which is not known; it takes file, {known}',
  ],
  field_twice: [
    'invalid_argument',
    'the field {name} is there twice, or longer than {maxFieldBytes} KiB',
  ],
  no_file_field: [
    'invalid_argument',
    'the form has no field "file"; send the file in one, as with curl -F file=@manual.pdf',
  ],
  no_boundary: ['invalid_argument', 'the Content-Type names no boundary of the form'],
  form_start: ['invalid_argument', 'the form does not begin with its boundary'],
  form_parts: [
    'invalid_argument',
    'a part of the form has no header or a long one, or there are more than {maxParts} parts',
  ],
  form_cut_off: ['invalid_argument', 'the form ends within a part; it was cut off on the way'],
  unnamed_part: ['invalid_argument', 'a part of the form does not say which field it is'],
  file_name_encoding: [
    'invalid_argument',
    'the name of the file is not encoded as its header says',
  ],
  field_encoding: ['invalid_argument', 'the field {field} is not UTF-8'],
});
