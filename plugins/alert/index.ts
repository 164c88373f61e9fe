import { definePlugin } from 'svc/sdk';

import { alertEngine } from './engine.ts';
import { Delays } from './evaluator/delays.ts';
import { planOf } from './rule-plan.ts';
import { alertRules } from './rule-room.ts';

export default definePlugin({
  activate(ctx) {
    const delays = new Delays();
    const rules = alertRules(ctx, { delayOf: delays.of });
    const engine = alertEngine(ctx, { book: rules.book, render: rules.render, planOf, delays });
    return { rules, engine };
  },
  async start(_ctx, { rules, engine }) {
    // Rules before incidents: one whose rule is not known is closed.
    await rules.load();
    await engine.start();
  },
});
