import { isIP } from 'node:net';
import { lookup } from 'node:dns/promises';

import {
  type Browser,
  type Chromium,
  type Order,
  type Place,
  probe,
  type Reading,
} from 'svc/check';
import type { DeviceDirectory } from 'svc/contracts/device';
import type { EdgeFleet } from 'svc/contracts/edge';
import type { ForeignPrograms, ProgramOwner } from 'svc/contracts/programs';
import { type Clock, type Handle, type Ids, messageOf } from 'svc/sdk';

import { errors } from '../check/errors.ts';
import { isReading } from './agent-reading.ts';
import type { Vote } from './verdict.ts';

export interface PlacesParts {
  readonly fleet: Handle<EdgeFleet>;
  readonly devices: Handle<DeviceDirectory>;
  readonly programs: Handle<ForeignPrograms>;
  readonly owner: ProgramOwner;
  readonly chromium: Pick<Chromium, 'lend'>;
  /** Returns an address that svc may connect to; throws for one that it may not. */
  readonly addressOf: (host: string) => Promise<string>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'token'>;
}

/** One place that probes. */
export interface Site {
  readonly name: string;
  /** Undefined: svc itself. */
  readonly edgeId: number | undefined;
  /** Why there is no such place. */
  readonly missing?: string;
}

/** Time beyond that of the probe in which an agent has to answer. */
const graceMs = 5_000;
/** The same for a browser, which has to start, and may have to wait until another one has ended. */
const browserGraceMs = 90_000;
const maxPingOutput = 4_096;
const maxSites = 100;

/** Places that probes run from: svc itself, and its agents. */
export class Places {
  readonly #parts: PlacesParts;

  constructor(parts: PlacesParts) {
    this.#parts = parts;
  }

  /** Returns the places that these texts name at this moment. */
  async sitesOf(texts: readonly string[]): Promise<readonly Site[]> {
    const sites = new Map<string, Site>();
    for (const text of texts) {
      for (const site of await this.#sitesOf(text)) {
        sites.set(site.name, site);
      }
    }
    return [...sites.values()].slice(0, maxSites);
  }

  /** Probes once from one place. A place that cannot is no failure of the target. */
  async probe(site: Site, order: Order, signal: AbortSignal): Promise<Vote> {
    const { clock } = this.#parts;
    const { name: place, missing } = site;
    if (missing !== undefined) {
      return { place, at: clock.now(), offline: missing };
    }
    try {
      const reading =
        site.edgeId === undefined
          ? await this.#probeHere(order, signal)
          : await this.#probeThere(site.edgeId, order, signal);
      return { place, at: clock.now(), reading };
    } catch (error) {
      signal.throwIfAborted();
      return { place, at: clock.now(), offline: messageOf(error) };
    }
  }

  async #sitesOf(text: string): Promise<readonly Site[]> {
    if (text === 'svc') {
      return [{ name: 'svc', edgeId: undefined }];
    }
    const { fleet, devices } = this.#parts;
    const edges = fleet.available ? fleet.get().list() : [];
    const [kind, rest] = splitAt(text, ':');
    if (kind === 'agent') {
      const edge = edges.find(({ name }) => name === rest);
      return [
        edge === undefined
          ? { name: rest, edgeId: undefined, missing: `there is no agent ${rest}` }
          : { name: rest, edgeId: edge.id },
      ];
    }
    const found = devices.available
      ? await devices.get().many(edges.flatMap(({ device_id: id }) => (id === null ? [] : [id])))
      : [];
    const [key, value] = splitAt(rest, '=');
    const chosen = new Set(
      found
        .filter(({ tags, roles }) => (kind === 'role' ? roles.includes(rest) : tags[key] === value))
        .map(({ id }) => id),
    );
    const sites = edges
      .filter(({ device_id: id }) => id !== null && chosen.has(id))
      .map(({ id, name }): Site => ({ name, edgeId: id }));
    return sites.length > 0
      ? sites
      : [{ name: text, edgeId: undefined, missing: `no agent has ${text}` }];
  }

  async #probeHere(order: Order, signal: AbortSignal): Promise<Reading> {
    if (order.kind !== 'browser') {
      return await this.#probeWith(undefined, order, signal);
    }
    const reach: Place['reach'] = async (host, _port, ip) => await this.#reach(host, ip);
    return await this.#parts.chromium.lend(order, reach, signal, (browser) =>
      this.#probeWith(browser, order, signal),
    );
  }

  #probeWith(browser: Browser | undefined, order: Order, signal: AbortSignal): Promise<Reading> {
    const { clock, ids, programs, owner } = this.#parts;
    const runner = programs.available ? programs.get() : undefined;
    const file = order.kind === 'ping' ? runner?.find('ping') : undefined;
    return probe(
      order,
      {
        reach: async (host, _port, ip) => await this.#reach(host, ip),
        monotonic: () => clock.monotonic(),
        now: () => clock.now(),
        nonce: () => ids.token(24),
        ping:
          file === undefined
            ? undefined
            : async (args, stop) => {
                const { output, errors: printed } = await runner!.run(owner, file, args, {
                  timeoutMs: order.timeout_ms + graceMs,
                  maxBytes: maxPingOutput,
                  signal: stop,
                });
                return Buffer.from(output).toString('utf8') || printed;
              },
      },
      signal,
      browser,
    );
  }

  /** A name is resolved once, and what was checked is what is dialled. */
  async #reach(host: string, ip: Order['ip']) {
    const { addressOf } = this.#parts;
    const plain = host.replaceAll(/^\[|\]$/g, '');
    const family = ip === 'any' ? 0 : Number(ip);
    const found =
      isIP(plain) === 0
        ? await lookup(plain, { all: true, family })
        : [{ address: plain, family: isIP(plain) }];
    const usable = found.filter((one) => family === 0 || one.family === family);
    if (usable.length === 0) {
      throw errors.no_address({ host: plain, ip });
    }
    let refusal: unknown;
    for (const { address, family: version } of usable.slice(0, 8)) {
      try {
        return { address: await addressOf(address), family: version === 6 ? 6 : 4 } as const;
      } catch (error) {
        refusal ??= error;
      }
    }
    throw refusal;
  }

  async #probeThere(edgeId: number, order: Order, signal: AbortSignal): Promise<Reading> {
    const { fleet } = this.#parts;
    if (!fleet.available) {
      throw errors.no_agents();
    }
    const answer = await fleet.get().call<unknown>(edgeId, 'check_probe', order, {
      timeoutMs: order.timeout_ms + (order.kind === 'browser' ? browserGraceMs : graceMs),
      signal,
    });
    if (!isReading(answer)) {
      throw errors.no_reading();
    }
    return answer;
  }
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
