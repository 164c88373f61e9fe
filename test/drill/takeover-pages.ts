import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

interface About {
  readonly event?: string;
  readonly incident: { readonly labels: Readonly<Record<string, string>> };
}

interface Body {
  readonly event?: string;
  readonly incident: About['incident'] | null;
  readonly notices?: readonly About[];
  readonly omitted?: number;
}

/** Requests the nodes, whichever of them serves. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

const everyMs = 500;

/**
 * Alerts that arrive from elsewhere, each with a number of its own, and the pages that somebody
 * gets for them. An alert is sent again until it is acknowledged, as Alertmanager does.
 */
export class Pages {
  readonly #ask: Ask;
  readonly #server: Server;
  /** Number of pages by alert. */
  readonly #paged = new Map<number, number>();
  readonly #acknowledged = new Set<number>();
  #path = '';
  #unnamed = 0;
  #number = 0;
  #ended = false;
  #work: Promise<void> = Promise.resolve();

  private constructor(ask: Ask) {
    this.#ask = ask;
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        this.#take(JSON.parse(Buffer.concat(pieces).toString('utf8')) as Body);
        response.end('ok');
      });
    });
  }

  static async open(ask: Ask): Promise<Pages> {
    const pages = new Pages(ask);
    await new Promise<void>((resolve) => pages.#server.listen(0, '127.0.0.1', resolve));
    const { port } = pages.#server.address() as AddressInfo;
    await pages.#make('/api/v1/notification-channels', {
      name: 'pages',
      channel_type: 'webhook',
      endpoint: `http://127.0.0.1:${port}/page`,
    });
    const { url } = await pages.#make<{ url: string }>('/api/v1/alert-sources', {
      key: 'takeover',
      dimensions: ['page'],
    });
    pages.#path = new URL(url).pathname;
    pages.#work = pages.#send();
    return pages;
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Alerts that were acknowledged and never paged. */
  get lost(): readonly number[] {
    return [...this.#acknowledged].filter((number) => !this.#paged.has(number));
  }

  /** Pages beyond the first of each alert. */
  get doubled(): number {
    return [...this.#paged.values()].reduce((sum, pages) => sum + pages - 1, 0);
  }

  /** Pages about more alerts than they name. */
  get unnamed(): number {
    return this.#unnamed;
  }

  /** Sends no more; resolves once everything was paged, or after `patienceMs`. */
  async settle(patienceMs: number): Promise<void> {
    this.#ended = true;
    await this.#work;
    const deadline = performance.now() + patienceMs;
    while (this.lost.length > 0 && performance.now() < deadline) {
      await pause(500);
    }
  }

  close(): void {
    this.#ended = true;
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #send(): Promise<void> {
    while (!this.#ended) {
      const number = (this.#number += 1);
      const alert = {
        status: 'firing',
        labels: { alertname: 'Takeover', severity: 'critical', page: String(number) },
        annotations: {},
        startsAt: new Date().toISOString(),
        fingerprint: `takeover${number}`,
      };
      const body = JSON.stringify({
        version: '4',
        status: 'firing',
        receiver: 'svc',
        groupLabels: {},
        commonLabels: {},
        commonAnnotations: {},
        externalURL: 'http://127.0.0.1',
        groupKey: `page-${number}`,
        alerts: [alert],
      });
      while (!this.#ended && !(await this.#isTaken(body))) {
        await pause(everyMs);
      }
      if (!this.#ended) {
        this.#acknowledged.add(number);
      }
      await pause(everyMs);
    }
  }

  async #isTaken(body: string): Promise<boolean> {
    const headers = { 'content-type': 'application/json' };
    const answer = await this.#ask(this.#path, { method: 'POST', headers, body }).catch(
      () => undefined,
    );
    return answer?.ok === true;
  }

  #take({ event, incident, notices, omitted = 0 }: Body): void {
    const entries = incident === null ? (notices ?? []) : [{ incident, ...(event && { event }) }];
    this.#unnamed += omitted;
    for (const { event: kind, incident: one } of entries) {
      const number = Number(one.labels['page']);
      if (kind === 'firing' && Number.isInteger(number)) {
        this.#paged.set(number, (this.#paged.get(number) ?? 0) + 1);
      }
    }
  }

  async #make<T>(path: string, body: object): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const answer = await this.#ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) {
      throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    }
    return (await answer.json()) as T;
  }
}
