import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Ends } from './alert-prometheus-units.ts';

interface Entry {
  readonly event: string;
  readonly incident: {
    readonly labels: Readonly<Record<string, string>>;
    readonly firing_instances?: number;
  };
  readonly rule: { readonly rule_key: string };
}

type Body = (Entry | { readonly incident: null }) & {
  readonly link: string;
  readonly notices?: readonly Entry[];
  readonly count?: number;
  readonly omitted?: number;
};

/** Content of one message about one rule in one direction. */
export interface Said {
  readonly event: string;
  readonly rule: string;
  readonly at: number;
  readonly link: string;
  /** Units by name. */
  readonly units: readonly string[];
  /** All of them, those that are not named included. */
  readonly count: number;
}

/** Receiver that counts the messages about a storm, and the units in each. */
export class StormReceiver {
  readonly said: Said[] = [];
  /** Address at which it listens. */
  hook = '';

  async listen(t: Ends): Promise<this> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        this.#take(JSON.parse(Buffer.concat(pieces).toString('utf8')) as Body);
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return this;
  }

  /**
   * Returns the messages about a rule in one direction; a resolve of one group is one of all its
   * instances.
   */
  of(rule: string, event: 'firing' | 'resolved'): readonly Said[] {
    return this.said.filter((one) => one.rule === rule && one.event === event);
  }

  #take(body: Body): void {
    const at = performance.now();
    if (body.incident !== null) {
      const { event, rule, incident, link } = body;
      const unit = incident.labels['unit'];
      this.said.push({
        event,
        rule: rule.rule_key,
        at,
        link,
        units: unit === undefined ? [] : [unit],
        count: incident.firing_instances ?? 1,
      });
      return;
    }
    const entries = body.notices ?? [];
    const kinds = new Set(entries.map(({ event, rule }) => `${rule.rule_key} ${event}`));
    for (const kind of kinds) {
      const [rule = '', event = ''] = kind.split(' ');
      const own = entries.filter((entry) => entry.rule.rule_key === rule && entry.event === event);
      // What is left out cannot be told apart where a message is about several things.
      const rest = kinds.size === 1 ? (body.omitted ?? 0) : Number.NaN;
      this.said.push({
        event,
        rule,
        at,
        link: body.link,
        units: own.map(({ incident }) => incident.labels['unit'] ?? ''),
        count: own.length + rest,
      });
    }
  }
}
