import { byteRoute, type Principal, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import { limits } from './archive/entry-list.ts';
import { errors } from './errors.ts';
import type { PackService } from './install/pack-service.ts';
import { installMs, type PackAnswers, PackParams } from './pack-answers.ts';
import {
  Confirm,
  InstallAnswer,
  Path,
  PreviewShape,
  Reason,
  WantedInstall,
  WantedPack,
} from './shapes.ts';
import { shownPreview } from './shown.ts';

/** Routes that bring packs in, each after it was shown what it wants. */
export const installRoutes = (
  packService: PackService,
  answers: PackAnswers,
): readonly RouteDeclaration[] => [
  previewRoute(packService),
  installRoute(packService, answers),
  uploadRoute(packService, answers),
  updateRoute(packService, answers),
  linkRoute(packService, answers),
];

const previewRoute = (packService: PackService): RouteDeclaration =>
  route({
    method: 'POST',
    path: '/api/v1/marketplace/preview',
    access: 'marketplace:install',
    summary: 'Preview a pack and what it requests, without installing it',
    body: WantedPack,
    response: PreviewShape,
    status: 200,
    timeoutMs: installMs,
    errors: ['not_found', 'conflict', 'upstream_error'],
    async handle({ body, principal, signal }) {
      forAdministrators(principal, body.folder);
      return shownPreview(await packService.preview(body, signal));
    },
  });

const installRoute = (packService: PackService, answers: PackAnswers): RouteDeclaration =>
  route({
    method: 'POST',
    path: '/api/v1/marketplace/install',
    access: 'marketplace:install',
    brief: ['pack_id', 'version', 'state'],
    summary: 'Install a pack; returns 409 with a preview if confirmation is needed',
    body: WantedInstall,
    response: InstallAnswer,
    status: 201,
    timeoutMs: installMs,
    errors: ['not_found', 'conflict', 'upstream_error', 'forbidden'],
    async handle(call) {
      const { confirm, reason, ...wanted } = call.body;
      forAdministrators(call.principal, wanted.folder);
      return answers.outcome(
        call,
        await packService.install(wanted, { by: call.principal, confirm, reason }, call.signal),
      );
    },
  });

const uploadRoute = (packService: PackService, answers: PackAnswers): RouteDeclaration =>
  byteRoute({
    method: 'POST',
    path: '/api/v1/marketplace/upload',
    access: 'marketplace:install',
    reads: 'none',
    summary: 'Install an uploaded archive: zip or tar.gz, sent as the request body or a form file',
    query: Type.Object({
      confirm: Type.Optional(Confirm),
      reason: Type.Optional(Reason),
      path: Type.Optional(Path),
    }),
    consumes: [
      'application/zip',
      'application/gzip',
      'application/octet-stream',
      'multipart/form-data',
    ],
    produces: 'application/json; charset=utf-8',
    streamed: true,
    maxBodyBytes: limits.packedBytes,
    status: 201,
    timeoutMs: installMs,
    errors: ['conflict', 'forbidden'],
    async handle(call) {
      const { principal, query, headers } = call;
      const outcome = await packService.upload(
        piecesOf(call.body),
        headers['content-type'] ?? '',
        (fields) => ({
          path: query.path ?? fields['path'] ?? '',
          word: {
            by: principal,
            confirm: query.confirm ?? fields['confirm'],
            reason: query.reason ?? fields['reason']?.slice(0, 500),
          },
        }),
      );
      return JSON.stringify(answers.outcome(call, outcome));
    },
  });

/** Returns the pieces of a body, which is none where a request was sent without. */
const piecesOf = (body: Uint8Array): AsyncIterable<Uint8Array> =>
  body instanceof Uint8Array
    ? (async function* () {
        yield body;
      })()
    : (body as AsyncIterable<Uint8Array>);

const updateRoute = (packService: PackService, answers: PackAnswers): RouteDeclaration =>
  route({
    method: 'POST',
    path: '/api/v1/marketplace/installed/{pack_id}/update',
    access: 'marketplace:install',
    brief: ['pack_id', 'version', 'state'],
    summary: 'Update a pack from its source',
    params: PackParams,
    body: Type.Object({
      version: Type.Optional(Type.String({ maxLength: 60 })),
      confirm: Type.Optional(Confirm),
      reason: Type.Optional(Reason),
    }),
    response: InstallAnswer,
    status: 200,
    timeoutMs: installMs,
    errors: ['not_found', 'conflict', 'upstream_error', 'forbidden'],
    async handle(call) {
      const { version, confirm, reason } = call.body;
      forAdministrators(
        call.principal,
        packService.existing(call.params.pack_id).lock.origin.kind === 'folder'
          ? 'folder'
          : undefined,
      );
      return answers.outcome(
        call,
        await packService.update(
          call.params.pack_id,
          version,
          { by: call.principal, confirm, reason },
          call.signal,
        ),
      );
    },
  });

const linkRoute = (packService: PackService, answers: PackAnswers): RouteDeclaration =>
  route({
    method: 'POST',
    path: '/api/v1/marketplace/links',
    access: 'admin',
    summary: 'Install a pack from a folder on the machine where svc runs, and reload it on changes',
    body: Type.Object({
      folder: Type.String({ pattern: '^/', maxLength: 1_000, examples: ['/srv/packs/mine'] }),
      confirm: Type.Optional(Confirm),
      reason: Type.Optional(Reason),
    }),
    response: InstallAnswer,
    status: 201,
    timeoutMs: installMs,
    errors: ['conflict'],
    async handle(call) {
      const { folder, confirm, reason } = call.body;
      return answers.outcome(
        call,
        await packService.link(folder, { by: call.principal, confirm, reason }, call.signal),
      );
    },
  });

/** A folder of the machine may hold anything: only who may do everything has it read. */
function forAdministrators(principal: Principal, folder: string | undefined): void {
  if (folder !== undefined && !principal.grants.includes('*')) {
    throw errors.folder_for_administrators();
  }
}
