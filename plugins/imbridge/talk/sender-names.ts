import type { ImPorts } from 'svc/contracts/imbridge';
import type { Clock } from 'svc/sdk';

import type { Apps } from '../apps/apps.ts';
import type { Said } from './commands.ts';

export interface SenderNameParts {
  readonly apps: Apps;
  readonly ports: ImPorts;
  readonly clock: Clock;
}

const keptMs = 3_600_000;
const maxKept = 1_000;
const longest = 80;

/** Names by which agents and readers know the senders of messages. */
export class SenderNames {
  readonly #parts: SenderNameParts;
  readonly #kept = new Map<string, { readonly name: string; readonly until: number }>();

  constructor(parts: SenderNameParts) {
    this.#parts = parts;
  }

  /** Returns the name of their account, or the one on the platform, marked: anyone chooses that as they like. */
  async of({ app, event, sender }: Said): Promise<string> {
    if (sender.linked) {
      return oneLine(sender.principal.name ?? sender.principal.id);
    }
    const name =
      event.sender_name === event.sender
        ? await this.#lookUp(app, event.sender)
        : event.sender_name;
    return `${oneLine(name)} (no linked account)`;
  }

  /** Some platforms name people by ids alone; where one refuses the name, the id has to do. */
  async #lookUp(app: Said['app'], sender: string): Promise<string> {
    const { apps, ports, clock } = this.#parts;
    const key = `${app.id}|${sender}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.until > clock.monotonic()) {
      return kept.name;
    }
    const found = await apps.platform(app.provider)?.nameOf?.(apps.open(app), sender, ports);
    const name = found === undefined || found.trim() === '' ? sender : found;
    this.#kept.delete(key);
    this.#kept.set(key, { name, until: clock.monotonic() + keptMs });
    if (this.#kept.size > maxKept) {
      this.#kept.delete(this.#kept.keys().next().value!);
    }
    return name;
  }
}

const oneLine = (name: string): string =>
  name
    .replaceAll(/[\p{Cc}\p{Cf}\s:]+/gu, ' ')
    .trim()
    .slice(0, longest);
