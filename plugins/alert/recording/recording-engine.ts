import { MetricsIngest, MetricsQueries } from 'svc/contracts/metricsdb';
import { listRoute, messageOf, type PluginContext, route, type RouteDeclaration } from 'svc/sdk';

import { RuleId } from '../authoring/rule-schema.ts';
import { BackEnd } from '../queries/back-end.ts';
import type { Delays } from '../queries/delays.ts';
import { askMetrics, withinScope } from '../queries/stores.ts';
import { Pace } from '../rule/pace.ts';
import { Recorder } from './recorder.ts';
import { groupRoutes, RecordingGroups } from './recording-groups.ts';
import { RecordingItem, Recordings } from './recordings.ts';

const tickMs = 1_000;

/** Recording rules, from their routes to the series that they write; begins with `start`. */
export class RecordingEngine {
  readonly #ctx: PluginContext;
  readonly #backEnd: BackEnd;
  readonly #recorder: Recorder;
  readonly recordings: Recordings;

  constructor(ctx: PluginContext, delays: Delays) {
    const { clock, services, settings, scope } = ctx;
    this.#ctx = ctx;
    // Lanes of its own: alert rules do not wait for what is recorded.
    this.#backEnd = new BackEnd({
      name: 'metrics',
      ask: askMetrics(services.maybe(MetricsQueries)),
      within: withinScope(scope),
      monotonic: () => clock.monotonic(),
    });
    this.#recorder = new Recorder({
      backEnd: this.#backEnd,
      monotonic: () => clock.monotonic(),
      store: services.maybe(MetricsIngest),
      now: () => clock.now(),
      intervalMs: new Pace(settings).intervalMs,
      delayMs: () => delays.of('metrics'),
    });
    this.recordings = new Recordings(ctx, this.#recorder);
    ctx.http.routes([
      ...recordingRoutes(this.recordings),
      ...groupRoutes(new RecordingGroups(this.recordings, services.maybe(MetricsQueries))),
    ]);
    scope.defer('finish recording rules', () => this.#recorder.stop());
  }

  async start(): Promise<void> {
    const { scope, log } = this.#ctx;
    await this.recordings.load();
    // Not awaited: a slow query must not delay the next tick.
    scope.interval('evaluate recording rules', tickMs, () => {
      void this.tick().catch((error: unknown) =>
        log.error(
          { event: 'alert.recorder_tick_failed', cause: messageOf(error) },
          'failed to evaluate recording rules',
        ),
      );
    });
  }

  /** Resolves when what was due is written. */
  async tick(): Promise<void> {
    void this.#backEnd.check(this.#ctx.clock.now());
    await this.#recorder.tick();
  }
}

const path = '/api/v1/recording-rules';

const recordingRoutes = (recordings: Recordings): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List recording rules, newest first; POST /api/v1/alert-rules/import imports them',
    items: RecordingItem,
    handle: ({ page }) => recordings.list(page),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'alert:write',
    summary: 'Delete a recording rule; its series are kept',
    params: RuleId,
    errors: ['not_found'],
    handle: (call) => recordings.remove(call, call.params.id),
  }),
];
