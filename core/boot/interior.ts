import { operatorAuthenticator } from '../auth/index.ts';
import { type Bus, Outboxes } from '../events/index.ts';
import { PluginHost, type PluginSources } from '../host/index.ts';
import { createHttpServer, type HttpServer } from '../http/index.ts';
import type { Threads } from '../isolate/index.ts';
import { redactText } from '../observe/index.ts';
import type { Generation } from '../registry/index.ts';
import { AuditTrail } from '../sdk/index.ts';
import { changePort } from './changes.ts';
import { openCommons } from './commons.ts';
import type { Foundation } from './foundation.ts';
import { hostPorts } from './host-ports.ts';
import type { TakeDown } from './take-down.ts';
import { pluginThreads } from './workers.ts';

/** The rooms that plugins live between. */
export interface Interior {
  readonly host: PluginHost;
  readonly bus: Bus<Generation>;
  readonly outboxes: Outboxes;
  readonly http: HttpServer;
  readonly threads: Threads;
}

const stopGraceMs = 10_000;

/** Builds the rooms around the host, none of which does anything yet. */
export function furnish(
  foundation: Foundation,
  { sources, watch, checkResponses }: { readonly sources: PluginSources; readonly watch: boolean; readonly checkResponses: boolean },
  takeDown: TakeDown,
): Interior {
  const { product, clock, ids, settings, logs, metrics, observers, storage, operator, registry } = foundation;
  const strike: PluginHost['strike'] = (owner, label, error) => {
    metrics.core.pluginStrikes.add(1, { plugin: owner.pluginId });
    host.strike(owner, label, error);
  };
  const commons = openCommons(foundation, { strike, dropped: metrics.core.eventsDropped }, takeDown);
  const { bus } = commons;
  const outboxes = new Outboxes({ tables: storage.core(), clock, ids, log: logs.logger('outbox'), redact: redactText, tries: metrics.core.outboxTries });
  takeDown.add(() => outboxes.stop());
  const threads = pluginThreads(product, clock);
  const host: PluginHost = new PluginHost(hostPorts({ ...foundation, ...commons, sources, watch, outboxes, threads }));
  takeDown.add(() => host.close());

  const http = createHttpServer({
    registry,
    clock,
    ids,
    log: logs.logger('http'),
    cursorKey: storage.derivedKey('http'),
    operator: operatorAuthenticator(operator.token),
    changes: changePort(storage),
    trustedProxies: settings.get<string[]>('http.trusted_proxies'),
    publicUrl: settings.get<string>('http.public_url'),
    strike,
    hideSecrets: redactText,
    absentTrail: () => absentProvider(host, AuditTrail.id),
    checkResponses,
    observe(route, status, ms, { requestId, method, plugin, traceparent }) {
      metrics.core.httpRequests.add(1, { route, status: String(status) });
      metrics.core.httpSeconds.observe(ms / 1000, { route });
      if (observers.wantsRequests) {
        observers.request({ requestId, route, method, plugin, status, startedAt: clock.now() - ms, durationMs: ms, traceparent });
      }
    },
  });
  takeDown.add(() => (http.listening ? http.close(stopGraceMs) : undefined));
  return { host, bus, outboxes, http, threads };
}

/** Why an installed provider of a service is down; nothing when there is none, or an operator switched it off. */
function absentProvider(host: PluginHost, service: string): string | undefined {
  const down = host.list().find(({ provides, state }) => !['active', 'disabled'].includes(state) && provides.some((offer) => offer.startsWith(`${service} `)));
  return down && `"${down.id}", which writes the audit trail, is ${down.state}`;
}
