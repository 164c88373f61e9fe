import { hostname } from 'node:os';

import { ConnectionAnswer } from 'svc/connection';
import { MailSender } from 'svc/contracts/mail';
import { ChannelTypes } from 'svc/contracts/notify';
import { definePlugin, Outgoing, route } from 'svc/sdk';
import { Type } from 'typebox';

import { emailChannel } from './email-channel.ts';
import { errors } from './errors.ts';
import { addressForm, Mailer } from './mailer.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    const { settings, clock, scope, log, services } = ctx;
    const outgoing = services.use(Outgoing);
    // A name that may be said aloud: letters, digits and dots.
    const name = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-') || 'svc';
    const mailer = new Mailer({
      settings,
      clock,
      name,
      ended: scope.signal,
      addressOf: outgoing.addressOf,
    });
    services.provide(MailSender, () => mailer);
    ctx.extend.contribute(ChannelTypes, 'email', emailChannel(mailer, log));
    ctx.http.routes([
      route({
        method: 'POST',
        path: '/api/v1/integrations/mail/test',
        access: 'admin',
        summary: 'Test the SMTP server; if an address is given, send an e-mail to it',
        body: Type.Object({
          to: Type.Optional(Type.String({ maxLength: 254, description: 'Recipient' })),
        }),
        response: ConnectionAnswer,
        status: 200,
        timeoutMs: 40_000,
        action: 'mail:test',
        async handle({ body: { to }, signal }) {
          if (to !== undefined && !addressForm.test(to)) {
            throw errors.address({ details: [{ path: '/to', message: 'is not an address' }] });
          }
          return { ...(await mailer.test(to, signal)) };
        },
      }),
    ]);
  },
});
