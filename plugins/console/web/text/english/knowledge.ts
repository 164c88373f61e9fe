import { words } from '../words.ts';

export const document = words('document', {
  edit: 'Edit',
  remove: 'Remove',
  removed: 'The document is gone.',
  content: 'Text, in Markdown',
  name: 'Title',
  versions: 'Versions',
  of: 'version {version}',
  adopt: 'Make it ours…',
  adoptNote: 'Your version takes the place of the playbook. Later versions of svc leave it alone.',
  nothingAt: 'There is no document at {path}.',
  nothingAtNote:
    'It was moved or removed, or it belongs to another organization. Search for it in Knowledge.',
});

export const knowledge = words('knowledge', {
  title: 'Knowledge',
  search: 'What goes wrong? An error, a metric, a symptom',
  add: 'New document',
  upload: 'Upload…',
  sync: 'Bring in the playbooks',
  synced: 'The playbooks that came with svc are in place.',
  document: 'Document',
  folder: 'Folder',
  all: 'All documents',
  source: 'From',
  size: 'Size',
  changed: 'Changed',
  none: 'There are no documents here.',
  noneNote: 'Write one, upload a file, or bring in the playbooks that came with svc.',
  found: 'Found',
  notFound: 'Nothing says that.',
  notFoundNote: 'Other words may: a metric, the message of an error, the name of a program.',
  path: 'Path, such as runbooks/mail.md',
  content: 'Text, in Markdown',
  uploaded: '{name} is in.',
});
