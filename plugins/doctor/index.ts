import { type Diagnosis, type Examination, Examinations, type Looking } from 'svc/contracts/doctor';
import { definePlugin, messageOf, type OpenPoint, route } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { Probes } from './probes.ts';

const Findings = Type.Object({
  items: Type.Array(
    Type.Object({
      subject: Type.String({ description: 'What was checked' }),
      area: Type.String({ description: 'Plugin that ran the check' }),
      verdict: Type.Union([Type.Literal('ok'), Type.Literal('warn'), Type.Literal('fail')]),
      detail: Type.String({ description: 'Result and the reason for it' }),
      fix: Type.Union([Type.String(), Type.Null()], {
        description: 'What to do about it; null if nothing needs to be done',
      }),
    }),
  ),
});

const thoroughMs = 300_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const examinations = ctx.extend.open(Examinations);
    ctx.http.routes([
      ...new Probes(ctx).routes(),
      route({
        method: 'GET',
        path: '/api/v1/doctor',
        access: 'admin',
        summary: 'Run the checks in all areas',
        query: Type.Object({
          thorough: Type.Optional(
            Type.Boolean({
              description: 'Include checks that cost money or take minutes, such as model calls',
            }),
          ),
        }),
        response: Findings,
        timeoutMs: thoroughMs,
        async handle({ query: { thorough = false }, signal }) {
          return { items: await examined(examinations, { thorough, signal }) };
        },
      }),
    ]);
  },
});

/** All at once, in the order of their names. */
const examined = (examinations: OpenPoint<Examination>, looking: Looking) =>
  Promise.all(
    examinations
      .list()
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(async ({ id, pluginId, value }) => ({
        subject: id,
        area: pluginId,
        ...(await diagnosed(value, looking)),
      })),
  );

async function diagnosed(examination: Examination, looking: Looking): Promise<Diagnosis> {
  try {
    const { verdict, detail, fix } = await examination.look(looking);
    return { verdict, detail, fix };
  } catch (error) {
    return {
      verdict: 'fail',
      detail: `check failed: ${messageOf(error)}`,
      fix: 'check the log of svc for messages of this area, then run "svc doctor" again',
    };
  }
}
