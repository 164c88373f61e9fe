import { words } from '../../words.ts';

export const silences = words('silences', {
  title: 'Silences',
  add: 'Create silence',
  end: 'End silence',
  ended: 'Silence ended',
  active: 'Active',
  pending: 'Pending',
  expired: 'Expired',
  state: 'State',
  what: 'Matchers',
  reason: 'Reason',
  by: 'Created by',
  until: 'Until',
  none: 'No silences',
  noneByLabel: 'No silences by label',
  alone: 'Individually silenced incidents',
  incident: 'Incident',
  noneNote:
    'Create a silence to pause notifications for the incidents it matches. Notifications resume when it ends.',
  matchers: 'Matchers',
  matchersHint: 'One per line: name = value, name != value, name =~ regex, name !~ regex',
  duration: 'Duration',
  reasonHint: 'Shown beside each silenced incident.',
  preview: 'Preview',
  look: 'Preview silence',
  previewed:
    'Silences {muted} of {firing} open incidents; would have silenced {was} of {fired} in the last day.',
  wrong: 'Line {line} is not a matcher. Write it as name = value.',
  more: 'and 1 more|and {count} more',
});
