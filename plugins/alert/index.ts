import { definePlugin } from 'svc/sdk';

import { AlertEngine } from './alert-engine.ts';
import { AlertRules } from './alert-rules.ts';
import { errors } from './errors.ts';
import { planOf } from './kinds/rule-plan.ts';
import { Delays } from './queries/delays.ts';
import { RecordingEngine } from './recording/recording-engine.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    const delays = new Delays();
    const recording = new RecordingEngine(ctx, delays);
    const rules = new AlertRules(ctx, { delayOf: delays.of, recordings: recording.recordings });
    const engine = new AlertEngine(ctx, {
      liveRules: rules.liveRules,
      render: rules.render,
      labelsOf: rules.labelsOf,
      nameOf: rules.nameOf,
      planOf,
      delays,
      recording,
    });
    return { recording, rules, engine };
  },
  async start(_ctx, { recording, rules, engine }) {
    // Rules before incidents: one whose rule is not known is closed.
    await rules.load();
    await recording.start();
    await engine.start();
  },
});
