import type { DeviceDirectory } from 'svc/contracts/device';
import type { TopologyGraph } from 'svc/contracts/topology';
import type { SeenBy } from 'svc/query';
import type { Handle, Principal } from 'svc/sdk';

export interface NamedParts {
  readonly graph: Handle<TopologyGraph>;
  readonly devices: Handle<DeviceDirectory>;
  readonly seenBy: SeenBy;
}

const maxNames = 40;
const maxNodes = 20;
const name = /[\p{L}\p{N}][\p{L}\p{N}._-]+/gu;
const mention = /@(?:device|host):(\d+)/g;

/** What a question calls by name: hosts, services, databases, of those that the person may see. */
export class NamedThings {
  readonly #parts: NamedParts;

  constructor(parts: NamedParts) {
    this.#parts = parts;
  }

  /**
   * Returns words about what is named: what it is, the roles of its host, and what runs on that
   * host.
   */
  async about(question: string, principal: Principal): Promise<readonly string[]> {
    const { graph, devices, seenBy } = this.#parts;
    if (!graph.available) {
      return [];
    }
    const { nodes } = await graph.get().neighbourhood(
      {
        names: namesIn(question),
        device_ids: [...question.matchAll(mention)].map(([, id]) => Number(id)),
        depth: 1,
        most: maxNodes,
      },
      await seenBy(principal),
    );
    const named = nodes.filter(({ distance }) => distance === 0);
    const hosts = named.flatMap(({ device_id: id }) => id ?? []);
    const entries = devices.available && hosts.length > 0 ? await devices.get().many(hosts) : [];
    // What a service depends on is another's subject; what a host carries is its own.
    const telling = hosts.length === named.length ? nodes : named;
    return [
      ...new Set([
        ...telling.flatMap(({ type }) => (type === 'host' ? [] : [type])),
        ...entries.flatMap(({ roles }) => roles),
      ]),
    ];
  }
}

const namesIn = (question: string): readonly string[] =>
  [...new Set([...question.matchAll(name)].map(([word]) => word.replace(/[._-]+$/, '')))]
    .flatMap((word) => (word === word.toLowerCase() ? [word] : [word, word.toLowerCase()]))
    .slice(0, maxNames);
