import { words } from '../../words.ts';

export const keep = words('keep', {
  save: 'Save answer',
  share: 'Share answer',
  shared: 'Colleagues can open this link for 30 days:',
  as: 'Save as',
  note: 'Note in the timeline of an incident',
  document: 'Document',
  investigation: 'Investigation of an incident',
  investigationHint: 'Adds the answer to the timeline and investigates the incident again.',
  incident: 'Incident number',
  incidentLink: 'incident {id}',
  path: 'Path',
  saved: 'Saved:',
  sharedTitle: 'Shared answer',
  sharedBy: 'Shared by {who}. Only the person who asked can open the cited evidence.',
  noLink: 'No answer selected',
});
