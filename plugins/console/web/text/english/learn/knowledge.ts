import { words } from '../../words.ts';

export const document = words('document', {
  edit: 'Edit document',
  delete: 'Delete document',
  deleted: 'Document deleted',
  content: 'Markdown',
  name: 'Title',
  versions: 'Versions',
  of: 'version {version}',
  adopt: 'Customize playbook',
  adoptNote: 'Your version replaces the built-in playbook. Upgrades of svc do not change it.',
  notFound: 'No document at {path}',
  notFoundNote: 'It was moved or deleted, or it belongs to another organization. Search Knowledge.',
});

export const knowledge = words('knowledge', {
  title: 'Knowledge',
  search: 'Search by error, metric or symptom',
  add: 'Create document',
  upload: 'Upload file',
  sync: 'Sync playbooks',
  synced: 'Built-in playbooks synced',
  document: 'Document',
  folder: 'Folders',
  all: 'All documents',
  source: 'Source',
  size: 'Size',
  changed: 'Changed',
  none: 'No documents in this folder',
  noneNote: 'Create a document, upload a file, or sync the built-in playbooks.',
  found: 'Results',
  notFound: 'No results',
  notFoundNote: 'Try a metric, an error message or the name of a program.',
  path: 'Path, such as runbooks/mail.md',
  content: 'Markdown',
  uploaded: '{name} uploaded',
});
