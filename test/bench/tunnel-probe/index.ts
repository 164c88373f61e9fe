import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import {
  type EventLoopUtilization,
  monitorEventLoopDelay,
  performance as node,
} from 'node:perf_hooks';
import { writeHeapSnapshot } from 'node:v8';

import { defineEvent, definePlugin, defineService, route } from 'svc/sdk';
import { Type } from 'typebox';

interface Fleet {
  online(): ReadonlySet<number>;
  call(
    edgeId: number,
    method: string,
    params: object,
    options: { readonly timeoutMs: number },
  ): Promise<unknown>;
}

const resolutionMs = 10;
const Calls = Type.Object({ calls: Type.Integer({ minimum: 1, maximum: 100_000 }) });
const Timed = Type.Object({
  calls: Type.Integer(),
  failed: Type.Integer(),
  p50_ms: Type.Number(),
  p99_ms: Type.Number(),
  all_ms: Type.Number(),
});
const path = '/api/v1/tunnel-probe';

/** Part of the bench, not of the product: what nobody else needs to be told. */
export default definePlugin({
  activate(ctx) {
    const fleet = ctx.services.maybe(defineService<Fleet>('edge.fleet'));
    const delay = monitorEventLoopDelay({ resolution: resolutionMs });
    delay.enable();
    ctx.scope.defer('delay', () => void delay.disable());
    let used: EventLoopUtilization = node.eventLoopUtilization();
    let offline = 0;
    ctx.events.on(
      defineEvent<{ readonly edge_id: number }>('edge.offline'),
      () => void (offline += 1),
    );

    async function timed(edgeIds: Iterable<number>, lanes: number) {
      const begun = ctx.clock.monotonic();
      const times: number[] = [];
      let failed = 0;
      const left = edgeIds[Symbol.iterator]();
      const lane = async (): Promise<void> => {
        for (let next = left.next(); next.done !== true; next = left.next()) {
          const asked = ctx.clock.monotonic();
          try {
            await fleet.get().call(next.value, 'host_snapshot', {}, { timeoutMs: 10_000 });
            times.push(ctx.clock.monotonic() - asked);
          } catch {
            failed += 1;
          }
        }
      };
      await Promise.all(Array.from({ length: lanes }, lane));
      times.sort((a, b) => a - b);
      const at = (part: number): number =>
        times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? -1;
      return {
        calls: times.length + failed,
        failed,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        all_ms: ctx.clock.monotonic() - begun,
      };
    }

    let profiling: Session | undefined;
    async function profile(file: string): Promise<void> {
      if (profiling === undefined) {
        profiling = new Session();
        profiling.connect();
        await profiling.post('Profiler.enable');
        await profiling.post('Profiler.setSamplingInterval', { interval: 500 });
        await profiling.post('Profiler.start');
        return;
      }
      const { profile: taken } = await profiling.post('Profiler.stop');
      profiling.disconnect();
      profiling = undefined;
      writeFileSync(file, JSON.stringify(taken));
    }

    ctx.http.routes([
      ...(['profile', 'heap'] as const).map((what) =>
        route({
          method: 'POST',
          path: `${path}/${what}`,
          access: 'admin',
          summary:
            'Look inside: the first call begins a CPU profile and the second writes it; a heap snapshot is written at once',
          body: Type.Object({ file: Type.String() }),
          status: 204,
          audited: false,
          timeoutMs: 300_000,
          handle: async ({ body }) =>
            void (what === 'profile' ? await profile(body.file) : writeHeapSnapshot(body.file)),
        }),
      ),
      route({
        method: 'GET',
        path,
        access: 'admin',
        summary: 'How the event loop did since this was asked last, and who was told to be offline',
        response: Type.Object({
          loop_p99_ms: Type.Number(),
          loop_max_ms: Type.Number(),
          loop_busy: Type.Number(),
          offline: Type.Integer(),
          heap_mb: Type.Number(),
          memory: Type.Record(Type.String(), Type.Number()),
        }),
        handle() {
          const now = node.eventLoopUtilization();
          const { utilization } = node.eventLoopUtilization(now, used);
          used = now;
          const figures = {
            loop_p99_ms: Math.max(0, delay.percentile(99) / 1e6 - resolutionMs),
            loop_max_ms: Math.max(0, delay.max / 1e6 - resolutionMs),
          };
          delay.reset();
          return {
            ...figures,
            loop_busy: utilization,
            offline,
            heap_mb: process.memoryUsage().heapUsed / 2 ** 20,
            memory: Object.fromEntries(
              Object.entries(process.memoryUsage()).map(([name, bytes]) => [
                name,
                Math.round(bytes / 2 ** 20),
              ]),
            ),
          };
        },
      }),
      route({
        method: 'POST',
        path: `${path}/sample`,
        access: 'admin',
        summary: 'Ask some edges, eight at a time',
        body: Calls,
        response: Timed,
        status: 200,
        audited: false,
        handle({ body }) {
          const all = [...fleet.get().online()];
          return timed(
            Array.from({ length: body.calls }, (_, i) => all[(i * 7_919) % all.length]!),
            8,
          );
        },
      }),
      route({
        method: 'POST',
        path: `${path}/all`,
        access: 'admin',
        summary: 'Ask every edge at once',
        response: Timed,
        status: 200,
        audited: false,
        handle: () => timed([...fleet.get().online()], fleet.get().online().size),
      }),
    ]);
  },
});
