import { Examinations } from 'svc/contracts/doctor';
import { PackTraces } from 'svc/contracts/marketplace';
import { ModelProviders, ModelRuns } from 'svc/contracts/model';
import { BuildInfo, definePlugin, type PluginContext } from 'svc/sdk';

import { askingRoutes } from './asking-routes.ts';
import { Budget } from './budget/budget.ts';
import type { ModelTables } from './budget/tables.ts';
import { ModelDoctor } from './doctor.ts';
import { errors } from './errors.ts';
import { ModelCalls } from './model-calls.ts';
import { modelRoutes } from './model-routes.ts';
import { ModelCatalogue } from './providers/catalogue.ts';
import { errors as providersErrors } from './providers/errors.ts';
import { HttpProvider } from './providers/http-provider.ts';
import { shippedProviders } from './providers/plans.ts';
import { Engines } from './translate/engines.ts';
import { errors as translateErrors } from './translate/errors.ts';
import { Translator } from './translate/translator.ts';
import { errors as wireErrors } from './wire/errors.ts';

const dayMs = 24 * 60 * 60_000;

export default definePlugin({
  errors: [errors, providersErrors, translateErrors, wireErrors],
  async activate(ctx) {
    const { clock, ids, log, scope, settings } = ctx;
    const budget = new Budget({
      tables: ctx.db<ModelTables>(),
      settings,
      clock,
      ids,
      process: ctx.services.use(BuildInfo).startedAt,
      after: (ms, work) => scope.timeout('wait for room in a budget', ms, work),
    });
    const left = await budget.settleLeft();
    if (left > 0) {
      log.warn(
        { event: 'model.calls_cut_off', calls: left },
        'model calls from an earlier process were interrupted; counting their maximum cost',
      );
    }

    const shipped = shippedProviders.map((plan) => new HttpProvider(plan, providerPorts(ctx)));
    const points = ctx.extend.open(ModelProviders);
    for (const provider of shipped) {
      ctx.extend.contribute(ModelProviders, provider.name, provider);
      ['api_key', 'base_url'].forEach((what) =>
        settings.watch(`llm.${provider.name}_${what}`, () => provider.forget()),
      );
    }
    const order = (name: string): number =>
      (shippedProviders.findIndex((plan) => plan.name === name) + 100) % 100;
    const catalogue = new ModelCatalogue(
      () =>
        points
          .list()
          .map(({ value }) => value)
          .toSorted((a, b) => order(a.name) - order(b.name)),
      settings,
    );
    const calls = new ModelCalls({
      catalogue,
      budget,
      log,
      clock,
      pause: pauseOf(ctx),
      random: () =>
        Number.parseInt(Buffer.from(ids.token(4), 'base64url').toString('hex'), 16) / 2 ** 32,
      tokens: ctx.metrics.counter('tokens_total', 'Tokens that models have read and written.', [
        'model',
        'direction',
      ]),
      requests: ctx.metrics.counter('requests_total', 'Requests to models.', ['model', 'outcome']),
    });

    ctx.services.provide(ModelRuns, () => calls);
    ctx.extend.contribute(PackTraces, 'model', {
      forget: ({ personas }) => budget.forgetPersonas(personas),
    });
    const invalidate = (): readonly string[] =>
      shipped.map((provider) => {
        provider.forget();
        return provider.name;
      });
    const doctor = new ModelDoctor(calls);
    ctx.extend.contribute(Examinations, 'model', doctor);
    ctx.http.routes([
      ...modelRoutes({ catalogue, budget, invalidate, providers: shipped }),
      ...askingRoutes(new Translator(calls, new Engines(ctx)), doctor),
    ]);
    scope.interval('remove usage of old runs', dayMs, () => budget.tidy());
  },
});

const providerPorts = (ctx: PluginContext): ConstructorParameters<typeof HttpProvider>[1] => ({
  settings: ctx.settings,
  clock: ctx.clock,
  fetch: (url, request) => ctx.fetch(url, request),
  background: (label, work) => void ctx.scope.task(label, work),
  told: (fields) =>
    ctx.log.warn(
      { event: 'model.list_unknown', ...fields },
      "failed to list a provider's models; showing known models",
    ),
});

/** Waits, but not for a call that is stopped or a plugin that leaves. */
const pauseOf =
  ({ scope }: PluginContext) =>
  (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((done) => {
      const stops = [signal, scope.signal];
      const end = (): void => {
        stops.forEach((stop) => stop.removeEventListener('abort', end));
        void cancel();
        done();
      };
      const cancel = scope.timeout('wait before a model is called again', ms, end);
      stops.forEach((stop) => stop.addEventListener('abort', end));
      if (stops.some(({ aborted }) => aborted)) {
        end();
      }
    });
