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
  adoptNote: 'Your version replaces the built-in playbook. Upgrading svc does not change it.',
  notFound: 'No document at {path}',
  notFoundNote:
    'It was moved or deleted, or it belongs to another organization. Try searching Knowledge.',
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
  notFoundNote: 'Try a metric, an error message or a program name.',
  nothingFits:
    'Probably no document answers this: none covers enough of what you searched for. The closest ones are:',
  path: 'Path, such as runbooks/mail.md',
  content: 'Markdown',
  uploaded: '{name} uploaded',
  imported: '{name} imported',
});

export const searchQuality = words('searchQuality', {
  gaps: 'Searches without a result',
  gapsNote:
    'Searches that found nothing, or whose results no one opened. Write documents that answer them.',
  nothing: 'found nothing once|found nothing {count} times',
  unopened: 'not opened once|not opened {count} times',
  delete: 'Delete search',
  deleted: 'Search deleted',
  measure: 'Embedding model',
  measuring: 'Not measured yet. Until then, searches use keywords only.',
  tooFew: 'Too few documents to measure. Similarity only adds documents that no keyword finds.',
  helps:
    'Measured with {questions} questions from your own documents: keywords alone have the answer among the first three results for {words} %, with the model for {used} % (weight {weight}).',
  helpsNot:
    'The model finds no more than keywords, which have the answer among the first three results for {words} % of {questions} questions from your own documents. Similarity only adds documents that no keyword finds.',
});

export const care = words('care', {
  title: 'Owner and review',
  edit: 'Change owner and review date',
  owner: 'Owner: {owner}',
  noOwner: 'No owner',
  ownerField: 'Owner, such as a person or a team',
  reviewField: 'Review by (UTC)',
  reviewHint: 'After this time, the document is shown as stale. Empty: never.',
  reviewBy: 'Review by',
  stale: 'Stale',
  helped: 'Was this helpful?',
  yes: 'Yes',
  no: 'No',
  voted: 'Vote saved',
  votes: '{yes} yes, {no} no',
  due: 'Documents to review',
});
