import type { IncidentActions, Incidents, IncidentView } from 'svc/contracts/alert';
import type { ApprovalDecisions } from 'svc/contracts/approval';
import type { ImButton, ImEvent, ImForm } from 'svc/contracts/imbridge';
import { parseDuration, type SeenBy } from 'svc/query';
import { type Clock, type Handle, isSvcError, timestamp } from 'svc/sdk';

import type { Act, Actions } from './actions.ts';
import { type Command, commands, requests } from './command-list.ts';
import { errors } from './errors.ts';
import { formFor } from './forms.ts';
import type { Sender, People } from '../apps/people.ts';
import type { Deed, Rights } from './rights.ts';
import type { LeasedMessage } from '../messages/leased-message.ts';
import type { AppRow, HeldEvent } from '../store/tables.ts';
import { filled, type Words, wordsOf } from '../messages/words.ts';

export interface CommandParts {
  readonly people: People;
  readonly rights: Rights;
  readonly actions: Actions;
  readonly clock: Clock;
  readonly incidents: Handle<Incidents>;
  readonly seenBy: SeenBy;
  readonly deeds: Handle<IncidentActions>;
  readonly decisions: Handle<ApprovalDecisions>;
  /** A new session for the thread; what was said is behind. */
  readonly renew: (said: Said) => Promise<void>;
  /** Marks the thread of the notice as up to date: the action happened there. */
  readonly toldHere: (app: AppRow, event: ImEvent, incident: number) => Promise<void>;
}

/** Message or button press, with its sender. */
export interface Said {
  readonly app: AppRow;
  readonly message: LeasedMessage;
  readonly event: HeldEvent;
  readonly sender: Sender;
  /** The incident in whose thread it was said. */
  readonly incident: number | undefined;
  /** True if the app lets this sender ask and see at all. */
  readonly allowed: boolean;
  /** True if an earlier version of the message was answered. */
  readonly isRevision: boolean;
}

/** `ask`: not for us, but for an agent, in these words. */
export type Reply =
  | { readonly text: string; readonly buttons?: readonly ImButton[] }
  | { readonly ask: string; readonly incident?: number }
  /** Form for its sender to fill in. */
  | { readonly form: ImForm };

/** Returns whether a text is a command, known or not. */
export const isCommand = (text: string): boolean => /^\/[a-z]/i.test(text.trim());

const silenceLength = /^(?:\d{1,6}[smhdw])+$/;
const longestNote = 4_000;
const maxShown = 15;
const longestComment = 500;
/** Duration as on the button. */
const extendFor = '2h';

/** Commands and buttons, executed with exactly the permissions of their sender. */
export class Commands {
  readonly #parts: CommandParts;

  constructor(parts: CommandParts) {
    this.#parts = parts;
  }

  /** Undefined: it is no command. */
  async run(said: Said): Promise<Reply | undefined> {
    const words = wordsOf(said.app.locale);
    const [name = '', ...rest] = said.event.text.trim().split(/\s+/);
    if (!isCommand(name)) {
      return undefined;
    }
    return await this.#told(
      said,
      words,
      async () =>
        await this.#named(name.slice(1).toLowerCase().replace(/@.*$/, ''), rest, said, words),
    );
  }

  async press(said: Said): Promise<Reply> {
    const words = wordsOf(said.app.locale);
    const act = await this.#parts.actions.find(said.app.id, said.event.text);
    return act === undefined
      ? { text: words.expired }
      : await this.#told(said, words, () => this.#act(act, said, words, ''));
  }

  async #named(name: string, rest: readonly string[], said: Said, words: Words): Promise<Reply> {
    const command = commands.find(
      (each) => each.name === name || each.aliases?.includes(name) === true,
    );
    if (command === undefined) {
      return { text: filled(words.noCommand, { name: `/${name.slice(0, 30)}` }) };
    }
    const { app, event, sender } = said;
    if (command.of === 'linked' && !sender.linked) {
      return { text: words.unlinked };
    }
    if (command.of === 'allowed' && !said.allowed) {
      return { text: words.anonymous };
    }
    switch (command.name) {
      case 'link':
        return { text: await this.#link(rest[0], said, words) };
      case 'unlink':
        return {
          text: (await this.#parts.people.forget(app.id, event.sender))
            ? words.unlinkedNow
            : words.notLinked,
        };
      case 'new':
        await this.#parts.renew(said);
        return { text: words.fresh };
      case 'incidents':
        return { text: await this.#list(said, command, words) };
      case 'ack':
        return await this.#onIncident(rest[0], said, command, words, (incident) => ({
          kind: 'ack',
          incident,
        }));
      case 'silence':
        return await this.#onIncident(rest[1], said, command, words, (incident) =>
          silenceLength.test(rest[0] ?? '')
            ? { kind: 'silence', incident, duration: rest[0]! }
            : undefined,
        );
      case 'note': {
        const [, id, text = ''] =
          /^\S+\s+(?:#?(\d{1,15})\s+)?([^]*)$/.exec(said.event.text.trim()) ?? [];
        const incident = id === undefined ? said.incident : Number(id);
        return incident === undefined || text === ''
          ? { text: filled(words.usage, { usage: command.usage }) }
          : await this.#act({ kind: 'note', incident }, said, words, text);
      }
      case 'do':
      case 'approve':
      case 'deny': {
        const act =
          rest[0] === undefined ? undefined : await this.#parts.actions.find(app.id, rest[0]);
        const isMeant = act !== undefined && (command.name === 'do' || act.kind === command.name);
        return isMeant
          ? await this.#act(act, said, words, rest.slice(1).join(' ').slice(0, longestComment))
          : { text: words.expired };
      }
      default:
        return { text: words.help };
    }
  }

  /** Runs work; a refusal becomes text, and is an answer, too. */
  async #told(said: Said, words: Words, work: () => Promise<Reply>): Promise<Reply> {
    try {
      return await work();
    } catch (error) {
      if (!isSvcError(error) || error.code === 'internal') {
        throw error;
      }
      return {
        text:
          error.reason === 'im.forbidden' || error.reason === 'im.may_not'
            ? filled(words.forbidden, { role: said.sender.principal.role })
            : filled(words.failed, { why: error.message }),
      };
    }
  }

  async #link(code: string | undefined, { app, event }: Said, words: Words): Promise<string> {
    if (code === undefined) {
      return filled(words.usage, { usage: '/link CODE' });
    }
    if (!event.direct) {
      await this.#parts.people.spend(code);
      return words.groupCode;
    }
    const person = await this.#parts.people.redeem(
      app.id,
      { id: event.sender, name: event.sender_name },
      code,
    );
    if (person === undefined) {
      return words.badCode;
    }
    const deed = {
      action: 'im:link',
      resource_type: 'im link',
      resource_id: event.sender,
      details: { app_id: app.id },
    };
    await this.#parts.rights.note(person, app.provider, deed, 'success', undefined);
    return filled(words.linked, { name: person.name ?? person.id });
  }

  async #list({ sender }: Said, { request }: Command, words: Words): Promise<string> {
    if (!this.#parts.incidents.available) {
      return words.noAlerts;
    }
    this.#parts.rights.demand(sender.principal, request!);
    const seen = await this.#parts.seenBy(sender.principal);
    const found = await this.#parts.incidents
      .get()
      .list({ status: ['open', 'acknowledged', 'silenced'], limit: 200 }, seen);
    const lines = found.slice(0, maxShown).map(incidentLine);
    const more = found.length - lines.length;
    return lines.length === 0
      ? words.noIncidents
      : [
          words.incidents,
          ...lines,
          ...(more > 0 ? [filled(words.more, { count: more })] : []),
        ].join('\n');
  }

  async #onIncident(
    given: string | undefined,
    said: Said,
    { usage }: Command,
    words: Words,
    actOf: (incident: number) => Act | undefined,
  ): Promise<Reply> {
    const id =
      given === undefined
        ? said.incident
        : /^#?\d{1,15}$/.test(given)
          ? Number(given.replace('#', ''))
          : undefined;
    const act = id === undefined ? undefined : actOf(id);
    return act === undefined
      ? { text: filled(words.usage, { usage }) }
      : await this.#act(act, said, words, '');
  }

  async #act(act: Act, said: Said, words: Words, comment: string): Promise<Reply> {
    const { sender, app, event } = said;
    if (!sender.linked) {
      return { text: words.unlinked };
    }
    if (act.kind === 'investigate') {
      this.#parts.rights.demand(sender.principal, requests.investigate);
      await this.#assertSeen(act.incident, sender);
      return { ask: filled(words.asked, { id: act.incident }), incident: act.incident };
    }
    if ('approval' in act) {
      return { text: await this.#decide(act, said, words, comment) };
    }
    if (!this.#parts.deeds.available) {
      return { text: words.noAlerts };
    }
    if (act.kind === 'form') {
      return await this.#form(act, said, words);
    }
    const change = { principal: sender.principal, note: () => undefined };
    const deed = (details: object): Deed => ({
      ...requests[act.kind],
      action: `incident:${act.kind}`,
      resource_type: 'incident',
      resource_id: String(act.incident),
      details: { ...details },
    });
    const name = sender.principal.name ?? sender.principal.id;
    if (act.kind === 'ack') {
      await this.#parts.rights.carryOut(sender.principal, app.provider, deed({}), () =>
        this.#parts.deeds.get().acknowledge(act.incident, undefined, change),
      );
      await this.#parts.toldHere(app, event, act.incident);
      return { text: filled(words.acked, { id: act.incident, name }) };
    }
    if (act.kind === 'note') {
      const text = (event.fields?.['note'] ?? comment).trim().slice(0, longestNote);
      if (!(await this.#isNoted(act.incident, text, said))) {
        await this.#parts.rights.carryOut(sender.principal, app.provider, deed({}), () =>
          this.#parts.deeds.get().note(act.incident, text, change),
        );
      }
      await this.#parts.toldHere(app, event, act.incident);
      return { text: filled(words.noted, { id: act.incident, name, text }) };
    }
    const { duration = act.duration, reason } = event.fields ?? {};
    if (!silenceLength.test(duration)) {
      return { text: filled(words.usage, { usage: '/silence 2h ID' }) };
    }
    // Relative to when it was said: repeated after a crash, it changes nothing.
    const until = act.until ?? timestamp(said.message.row.created_at + parseDuration(duration));
    const asked = reason === undefined ? { until } : { until, reason };
    await this.#parts.rights.carryOut(sender.principal, app.provider, deed(asked), () =>
      this.#parts.deeds.get().silence(act.incident, asked, change),
    );
    await this.#parts.toldHere(app, event, act.incident);
    const text =
      act.until === undefined
        ? filled(words.silenced, { id: act.incident, time: duration, name })
        : filled(words.extended, { id: act.incident, until, name });
    const further: Act = {
      ...act,
      duration: extendFor,
      until: timestamp(Date.parse(until) + parseDuration(extendFor)),
    };
    return {
      text,
      buttons: await this.#parts.actions.buttons(app.id, [{ label: words.extend, act: further }]),
    };
  }

  /** Returns whether a try before this one has written the note: unlike other acts, a note repeated is two. */
  async #isNoted(incident: number, text: string, { message, sender }: Said): Promise<boolean> {
    const { incidents } = this.#parts;
    return (
      message.isDoubtful &&
      incidents.available &&
      (await incidents.get().events(incident, undefined)).some(
        ({ type, message: noted, actor, created_at: at }) =>
          type === 'note' &&
          noted === text &&
          actor.id === sender.principal.id &&
          Date.parse(at) >= message.row.created_at,
      )
    );
  }

  /** A form to fill in, for a person who may do what it is for. */
  async #form(
    { form, incident }: Extract<Act, { kind: 'form' }>,
    { app, event, sender }: Said,
    words: Words,
  ): Promise<Reply> {
    this.#parts.rights.demand(sender.principal, requests[form]);
    await this.#assertSeen(incident, sender);
    const act: Act =
      form === 'note'
        ? { kind: 'note', incident }
        : { kind: 'silence', incident, duration: extendFor };
    const [{ token } = { token: '' }] = await this.#parts.actions.buttons(app.id, [
      { label: form, act },
    ]);
    return { form: formFor(form, { incident, token, reply: event.reply, words }) };
  }

  async #assertSeen(id: number, { principal }: Sender): Promise<void> {
    const { incidents, seenBy } = this.#parts;
    if (
      incidents.available &&
      (await incidents.get().get(id, await seenBy(principal))) === undefined
    ) {
      throw errors.no_incident({ id });
    }
  }

  /** Bound to what was shown: the button knows the digest of it, and the decision is refused when it is another one by now. */
  async #decide(
    act: Extract<Act, { approval: string }>,
    { sender, app }: Said,
    words: Words,
    comment: string,
  ): Promise<string> {
    if (!this.#parts.decisions.available) {
      throw errors.no_approvals();
    }
    const { principal } = sender;
    const word = { principal, ip: `im:${app.provider}`, args_sha256: act.args_sha256, comment };
    const deed: Deed = {
      ...requests[act.kind],
      action: `approval:${act.kind}`,
      resource_type: 'approval',
      resource_id: act.approval,
      details: { args_sha256: act.args_sha256 },
    };
    const decisions = this.#parts.decisions.get();
    const values = { name: principal.name ?? principal.id, what: act.what };
    const { status } = await this.#parts.rights.carryOut(principal, app.provider, deed, () =>
      act.kind === 'approve'
        ? decisions.approve(act.approval, word)
        : decisions.deny(act.approval, { ...word, comment: comment || 'denied in a chat' }),
    );
    return filled(
      act.kind === 'deny'
        ? words.denied
        : status === 'partially_signed'
          ? words.partly
          : words.approved,
      values,
    );
  }
}

const marks: Readonly<Record<string, string>> = { open: '🔥', acknowledged: '👁', silenced: '🔇' };

/** Returns one line about an incident. */
export const incidentLine = ({
  id,
  status,
  severity,
  rule_name: rule,
  summary,
}: IncidentView): string =>
  `${marks[status] ?? ''} #${id} ${severity}: ${(summary === '' ? rule : summary).slice(0, 200)} (${status})`;
