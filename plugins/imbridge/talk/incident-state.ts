import type { IncidentEventView, Incidents, IncidentStatus } from 'svc/contracts/alert';
import type { ChannelMessage } from 'svc/contracts/notify';

import type { Labelled } from './actions.ts';
import type { FormKind } from './forms.ts';
import { filled, type Words } from '../messages/words.ts';

/** Status of an incident, and the event that brought it there. */
export interface IncidentState {
  readonly status: IncidentStatus;
  readonly event: IncidentEventView | undefined;
  readonly resolvedAt: string | undefined;
}

/** Text of a notice besides the state of its incident. */
export type NoticeBody = Pick<ChannelMessage, 'title' | 'lines' | 'link'>;

const turns: ReadonlySet<string> = new Set([
  'firing',
  'acknowledged',
  'silenced',
  'silence_ended',
  'unsilenced',
  'resolved',
  'reopened',
]);
const silenceFor = '2h';

/** Returns where an incident stands now; undefined if there is none. */
export async function stateOf(
  incidents: Incidents,
  incident: number,
): Promise<IncidentState | undefined> {
  const view = await incidents.get(incident, undefined);
  if (view === undefined) {
    return undefined;
  }
  const events = await incidents.events(incident, undefined);
  return {
    status: view.status,
    event: events.findLast(
      ({ type, status_after: after }) => turns.has(type) && after === view.status,
    ),
    resolvedAt: view.resolved_at,
  };
}

/** Returns the key under which a notice remembers the state that it shows. */
export const keyOf = ({ status, event }: IncidentState): string => `${status}:${event?.id ?? 0}`;

/** The line of a message that says who has it in hand. */
const inHandLine = /^In hand: /;

/** Returns the lines of a notice with the present state in the place of the one that it began with. */
export function presentLines(
  { lines }: Pick<NoticeBody, 'lines'>,
  state: IncidentState,
  words: Words,
): readonly string[] {
  const line = stateLine(state, words);
  const at = lines.findIndex((each) => inHandLine.test(each));
  return at < 0 ? [line, ...lines] : lines.with(at, line);
}

function stateLine({ status, event, resolvedAt }: IncidentState, words: Words): string {
  const name = event?.actor.name ?? '';
  const at = clockOf(event?.created_at ?? '');
  const until = event?.data['until'];
  switch (status) {
    case 'open':
      return words.inHandOpen;
    case 'acknowledged':
      return filled(words.inHandAcknowledged, { name, at });
    case 'silenced':
      return filled(words.inHandSilenced, {
        name,
        until: clockOf(typeof until === 'string' ? until : ''),
      });
    case 'resolved':
      return filled(words.over, { at: clockOf(resolvedAt ?? '') });
  }
}

/** A time as notices write it. */
const clockOf = (timestamp: string): string =>
  timestamp === '' ? '…' : `${timestamp.slice(0, 19).replace('T', ' ')} UTC`;

/** Returns the buttons that do something in this state. */
export function actsFor(
  incident: number,
  status: IncidentStatus,
  words: Words,
  hasForms: boolean,
): readonly Labelled[] {
  const investigate: Labelled = {
    label: words.investigate,
    act: { kind: 'investigate', incident },
  };
  const form = (kind: FormKind, label: string): readonly Labelled[] =>
    hasForms ? [{ label, act: { kind: 'form', form: kind, incident } }] : [];
  switch (status) {
    case 'open':
      return [
        { label: words.ack, style: 'primary', act: { kind: 'ack', incident } },
        { label: words.silence, act: { kind: 'silence', incident, duration: silenceFor } },
        ...form('silence', words.silenceForm),
        ...form('note', words.noteForm),
        investigate,
      ];
    case 'acknowledged':
    case 'silenced':
      return [...form('note', words.noteForm), investigate];
    case 'resolved':
      return [];
  }
}
