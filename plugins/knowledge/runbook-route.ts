import type { KnowledgeRead } from 'svc/contracts/knowledge';
import { route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { runbookOf } from './runbook/runbook.ts';

const Asked = Type.Object({
  doc: Type.String({
    minLength: 1,
    maxLength: 1_000,
    pattern: '\\S',
    description: 'Such as 12, vault/hosts/disk-full.md or playbook://hosts/disk-full.md',
  }),
  device_id: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Device to use in the queries' }),
  ),
});

const Reading = Type.Object({
  text: Type.String(),
  language: Type.Enum(['promql', 'logql', 'traceql']),
  query: Type.String(),
  needs_device: Type.Boolean({ description: 'Whether a device_id is required to run the query' }),
});

const Shown = Type.Object({
  id: Type.Integer(),
  path: Type.String(),
  title: Type.String(),
  version: Type.Integer(),
  needs: Type.String({ description: 'Prerequisites for the readings, such as an exporter' }),
  readings: Type.Array(Reading),
  call: Type.Array(Type.String(), { description: 'Who to call, and when' }),
  steps: Type.Array(
    Type.Object({
      text: Type.String({ description: 'Markdown' }),
      commands: Type.Array(Type.String()),
      cost: Type.Union([
        Type.Object({ risk: Type.String(), takes: Type.String(), undo: Type.String() }),
        Type.Null(),
      ]),
      change: Type.Union(
        [Type.Object({ skill: Type.String(), service: Type.String() }), Type.Null()],
        { description: 'Skill that makes this change on the device, subject to the gate' },
      ),
    }),
  ),
  checks: Type.Array(Reading),
});

/** The steps of a playbook, with the device of an incident in its queries. */
export const runbookRoute = (documents: KnowledgeRead): RouteDeclaration =>
  route({
    method: 'GET',
    path: '/api/v1/knowledge/runbook',
    access: 'any',
    devices: 'narrowed',
    summary: 'Get the readings and steps of a playbook for a device',
    query: Asked,
    response: Shown,
    errors: ['not_found'],
    async handle({ query: { doc, device_id: deviceId = null }, principal }) {
      const found = await documents.read(doc.trim(), principal);
      if (found === undefined) {
        throw errors.no_document({ doc: JSON.stringify(doc) });
      }
      const { document_id: id, path, title, version, content } = found;
      return { id: Number(id), path, title, version, ...runbookOf(content, deviceId) };
    },
  });
