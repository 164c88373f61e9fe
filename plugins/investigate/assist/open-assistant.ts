import { Gate } from 'svc/contracts/gate';
import { ModelRuns } from 'svc/contracts/model';
import { Personas } from 'svc/contracts/persona';
import { SkillRunner, Skills } from 'svc/contracts/skill';
import type { PluginContext, ThreadHandle } from 'svc/sdk';

import { Assistant } from './assistant.ts';

/** Opens the assistant over the models, personas and skills available at the time of use. */
export const openAssistant = (
  { services, clock }: Pick<PluginContext, 'services' | 'clock'>,
  engine: Pick<ThreadHandle, 'call'>,
): Assistant =>
  new Assistant({
    clock,
    models: services.maybe(ModelRuns),
    personas: services.maybe(Personas),
    registry: services.maybe(Skills),
    runner: services.maybe(SkillRunner),
    gate: services.maybe(Gate),
    check: (snapshot, assertions) => engine.call('check', { snapshot, assertions }),
  });
