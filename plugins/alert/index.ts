import { definePlugin } from 'svc/sdk';

import { AlertEngine } from './alert-engine.ts';
import { AlertRules } from './alert-rules.ts';
import { Delays } from './evaluator/delays.ts';
import { planOf } from './rule-plan.ts';

export default definePlugin({
  activate(ctx) {
    const delays = new Delays();
    const rules = new AlertRules(ctx, { delayOf: delays.of });
    const engine = new AlertEngine(ctx, { book: rules.book, render: rules.render, labelsOf: rules.labelsOf, planOf, delays });
    return { rules, engine };
  },
  async start(_ctx, { rules, engine }) {
    // Rules before incidents: one whose rule is not known is closed.
    await rules.load();
    await engine.start();
  },
});
