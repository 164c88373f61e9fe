import type { Act } from './actions.ts';
import type { Deed } from './rights.ts';

type Request = Pick<Deed, 'method' | 'path'>;

export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Usage, as typed. */
  readonly usage: string;
  /**
   * Senders it is accepted from: everybody, those that the app admits, or people with a linked
   * account.
   */
  readonly of: 'everybody' | 'allowed' | 'linked';
  /** The request that does the same: its guard is the guard of the command. None: it is about the chat itself, or a button says it. */
  readonly request?: Request;
}

const incidents = '/api/v1/alerts/incidents';

/** Requests that buttons are equivalent to; a form is what it asks for. */
export const requests: Readonly<Record<Exclude<Act['kind'], 'form'> | 'look', Request>> = {
  ack: { method: 'POST', path: `${incidents}/{id}/ack` },
  silence: { method: 'POST', path: `${incidents}/{id}/silence` },
  note: { method: 'POST', path: `${incidents}/{id}/notes` },
  look: { method: 'GET', path: `${incidents}/{id}` },
  investigate: { method: 'POST', path: '/api/v1/chat/sessions/{id}/messages' },
  approve: { method: 'POST', path: '/api/v1/approvals/{id}/approve' },
  deny: { method: 'POST', path: '/api/v1/approvals/{id}/deny' },
};

/** Commands; anything else is none. */
export const commands: readonly Command[] = [
  { name: 'help', aliases: ['start'], usage: '/help', of: 'everybody' },
  { name: 'link', usage: '/link CODE', of: 'everybody' },
  { name: 'unlink', usage: '/unlink', of: 'everybody' },
  { name: 'new', usage: '/new', of: 'everybody' },
  {
    name: 'incidents',
    usage: '/incidents',
    of: 'allowed',
    request: { method: 'GET', path: incidents },
  },
  { name: 'ack', usage: '/ack ID', of: 'linked', request: requests.ack },
  { name: 'silence', usage: '/silence 2h ID', of: 'linked', request: requests.silence },
  { name: 'note', usage: '/note ID TEXT', of: 'linked', request: requests.note },
  { name: 'approve', usage: '/approve TOKEN', of: 'linked', request: requests.approve },
  { name: 'deny', usage: '/deny TOKEN', of: 'linked', request: requests.deny },
  { name: 'do', usage: '/do TOKEN', of: 'linked' },
];
