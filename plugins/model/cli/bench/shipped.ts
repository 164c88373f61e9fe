import { type Case, casesOf } from './case.ts';
import approval from './cases/approval.json' with { type: 'json' };
import builds from './cases/builds.json' with { type: 'json' };
import changes from './cases/changes.json' with { type: 'json' };
import database from './cases/database.json' with { type: 'json' };
import hosts from './cases/hosts.json' with { type: 'json' };
import incident from './cases/incident.json' with { type: 'json' };
import injection from './cases/injection.json' with { type: 'json' };
import knowledge from './cases/knowledge.json' with { type: 'json' };
import kubernetes from './cases/kubernetes.json' with { type: 'json' };
import logs from './cases/logs.json' with { type: 'json' };
import metrics from './cases/metrics.json' with { type: 'json' };
import queue from './cases/queue.json' with { type: 'json' };
import traces from './cases/traces.json' with { type: 'json' };
import unknown from './cases/unknown.json' with { type: 'json' };
import type { OfferedTool } from './tool-server.ts';
import tools from './tools.json' with { type: 'json' };
import type { World } from './world.ts';
import cluster from './worlds/cluster.json' with { type: 'json' };
import data from './worlds/data.json' with { type: 'json' };
import hostWorld from './worlds/hosts.json' with { type: 'json' };
import office from './worlds/office.json' with { type: 'json' };
import shop from './worlds/shop.json' with { type: 'json' };

/** Cases that ship with svc, by their subjects. */
export const shippedCases: readonly Case[] = Object.entries({
  incident,
  metrics,
  logs,
  traces,
  hosts,
  kubernetes,
  database,
  queue,
  changes,
  knowledge,
  builds,
  approval,
  injection,
  unknown,
}).flatMap(([subject, cases]) => casesOf(cases, `${subject}.json`));

/** Worlds that the cases are about. */
export const shippedWorlds = [
  shop,
  hostWorld,
  cluster,
  data,
  office,
] as unknown as readonly World[];

/** Tools for what a world cannot hold as data. */
export const offeredTools = tools as unknown as readonly OfferedTool[];
