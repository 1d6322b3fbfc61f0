import type { IncomingMessage } from 'node:http';
import type { Caller } from '@platform/auth/bearer';
import { noStore } from '@platform/service-kit/record-versions';
import { anyone, route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { clientOf } from '../sessions/client.ts';
import {
  EmailChange,
  EmailConfirmation,
  PasswordChange,
  PasswordReset,
  PasswordResetRequest,
  Reauthentication,
} from './schema.ts';
import {
  changePassword,
  confirmEmail,
  reauthenticate,
  requestEmailChange,
  requestPasswordReset,
  requestVerification,
  resetPassword,
  type Actor,
} from './use-cases.ts';

const tag = 'Account';
const done = <Status extends 202 | 204>(status: Status) => ({ status, headers: noStore });
const willBeSent = { 202: { description: 'Accepted; the answer does not tell whether a mail is sent' } };

/** Who sends a request. */
export const actorOf = (
  context: Context,
  { caller, req }: { caller: Caller; req: IncomingMessage },
): Actor => ({
  userId: caller.subject,
  sessionId: caller.sessionId ?? '',
  ...clientOf(context, req),
});

/** What users do with their own accounts. */
export const accountRoutes = (context: Context): Route[] => {
  const { tokens, clientAddress } = context;
  const user = tokens.guard();
  return [
    route(
      {
        method: 'post',
        path: '/auth/reauthenticate',
        operationId: 'reauthenticate',
        tag,
        summary: 'Enter your password again',
        description:
          'For ten minutes this session may do what needs it: change the address, delete the account, export. Wrong ' +
          'passwords count as failed logins: 429.',
        auth: user,
        body: { schema: Reauthentication, example: { password: 'try-me-out-2026' } },
        responses: { 204: { description: 'The password is right' } },
        problems: [403],
      },
      async ({ body, ...rest }) => {
        await reauthenticate(context, actorOf(context, rest), body.password);
        return done(204);
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/password',
        operationId: 'changePassword',
        tag,
        summary: 'Change your password',
        description:
          'All other sessions end, and changes of your address that were not confirmed. Wrong passwords count as failed logins: 429.',
        auth: user,
        body: {
          schema: PasswordChange,
          example: { currentPassword: 'try-me-out-2026', newPassword: 'try-me-out-2026' },
        },
        responses: { 204: { description: 'The new password is in force' } },
        problems: [403],
      },
      async ({ body, ...rest }) => {
        await changePassword(context, actorOf(context, rest), body);
        return done(204);
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/password/reset',
        operationId: 'requestPasswordReset',
        tag,
        summary: 'Forgotten password: request a mail',
        description:
          'The answer is the same for every address. The mail has a code for `/auth/password/reset/confirm` that is valid ' +
          'for 30 minutes, until it is used or the next one is sent. None is sent within three minutes of an unused one.',
        auth: anyone,
        body: { schema: PasswordResetRequest, example: { email: 'demo@example.test' } },
        responses: willBeSent,
        problems: [409],
      },
      async ({ body, req }) => {
        await requestPasswordReset(context, { ...body, address: clientAddress(req) });
        return done(202);
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/password/reset/confirm',
        operationId: 'resetPassword',
        tag,
        summary: 'Set a new password by a mail',
        description:
          'Every session ends, and so do changes of the address that were not confirmed, and waits after failed logins.',
        auth: anyone,
        body: { schema: PasswordReset },
        responses: { 204: { description: 'The new password is in force' } },
        problems: [404, 409],
      },
      async ({ body, req }) => {
        await resetPassword(context, body, clientOf(context, req));
        return done(204);
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/email',
        operationId: 'requestEmailChange',
        tag,
        summary: 'Change your email address',
        description:
          'The new address counts when it is confirmed by the code that is mailed to it; the old one gets a notice then.',
        auth: user,
        body: {
          schema: EmailChange,
          example: { newEmail: 'my-name@example.test', currentPassword: 'try-me-out-2026' },
        },
        responses: willBeSent,
        problems: [403, 409],
      },
      async ({ body, ...rest }) => {
        await requestEmailChange(context, actorOf(context, rest), body);
        return done(202);
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/email/verification',
        operationId: 'requestVerification',
        tag,
        summary: 'Confirm your address: another mail',
        auth: user,
        responses: willBeSent,
        problems: [409],
      },
      async (input) => {
        await requestVerification(context, actorOf(context, input));
        return done(202);
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/email/verify',
        operationId: 'confirmEmail',
        tag,
        summary: 'Confirm an email address by a mail',
        description:
          'When it is the first confirmation of an account, its sessions end: somebody else may have created it.',
        auth: anyone,
        body: { schema: EmailConfirmation },
        responses: { 204: { description: 'The address is confirmed' } },
        problems: [404, 409],
      },
      async ({ body, req }) => {
        await confirmEmail(context, body.token, clientOf(context, req));
        return done(204);
      },
    ),
  ];
};
