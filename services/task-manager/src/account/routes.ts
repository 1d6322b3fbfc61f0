import { noStore } from '@platform/service-kit/record-versions';
import { anyone, route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { actorOf, clientOf } from '../sessions/client.ts';
import { whenDone } from '../when-done.ts';
import { exportRoute } from './export.ts';
import { leave } from './leaving.ts';
import {
  EmailChange,
  EmailConfirmation,
  Leaving,
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
} from './use-cases.ts';

const tag = 'Account';
const willBeSent = { 202: { description: 'Accepted; the answer does not tell whether a mail is sent' } };

/** What users do with their own accounts. */
export const accountRoutes = (context: Context): Route[] => {
  const { tokens, clientAddress } = context;
  const ofUser = { method: 'post', tag, auth: tokens.guard() } as const;
  const ofAnyone = { method: 'post', tag, auth: anyone } as const;
  return [
    route(
      {
        path: '/auth/reauthenticate',
        operationId: 'reauthenticate',
        summary: 'Enter your password again',
        description:
          'For ten minutes this session may do what needs it: change the address, delete the account, export. Wrong ' +
          'passwords count as failed logins: 429.',
        ...ofUser,
        body: { schema: Reauthentication, example: { password: 'try-me-out-2026' } },
        responses: { 204: { description: 'The password is right' } },
        problems: [403],
      },
      ({ body, ...rest }) => whenDone(204, reauthenticate(context, actorOf(context, rest), body.password)),
    ),
    route(
      {
        path: '/auth/password',
        operationId: 'changePassword',
        summary: 'Change your password',
        description:
          'All other sessions end, and changes of your address that were not confirmed. Wrong passwords count as failed logins: 429.',
        ...ofUser,
        body: {
          schema: PasswordChange,
          example: { currentPassword: 'try-me-out-2026', newPassword: 'try-me-out-2026' },
        },
        responses: { 204: { description: 'The new password is in force' } },
        problems: [403],
      },
      ({ body, ...rest }) => whenDone(204, changePassword(context, actorOf(context, rest), body)),
    ),
    route(
      {
        path: '/auth/password/reset',
        operationId: 'requestPasswordReset',
        summary: 'Forgotten password: request a mail',
        description:
          'The answer is the same for every address. The mail has a code for `/auth/password/reset/confirm` that is valid ' +
          'for 30 minutes, until it is used or the next one is sent. None is sent within three minutes of an unused one.',
        ...ofAnyone,
        body: { schema: PasswordResetRequest, example: { email: 'demo@example.test' } },
        responses: willBeSent,
        problems: [409],
      },
      ({ body, req }) =>
        whenDone(202, requestPasswordReset(context, { ...body, address: clientAddress(req) })),
    ),
    route(
      {
        path: '/auth/password/reset/confirm',
        operationId: 'resetPassword',
        summary: 'Set a new password by a mail',
        description:
          'Every session ends, and so do changes of the address that were not confirmed, and waits after failed logins.',
        ...ofAnyone,
        body: { schema: PasswordReset },
        responses: { 204: { description: 'The new password is in force' } },
        problems: [404, 409],
      },
      ({ body, req }) => whenDone(204, resetPassword(context, body, clientOf(context, req))),
    ),
    route(
      {
        path: '/auth/email',
        operationId: 'requestEmailChange',
        summary: 'Change your email address',
        description:
          'The new address counts when it is confirmed by the code that is mailed to it; the old one gets a notice then.',
        ...ofUser,
        body: {
          schema: EmailChange,
          example: { newEmail: 'my-name@example.test', currentPassword: 'try-me-out-2026' },
        },
        responses: willBeSent,
        problems: [403, 409],
      },
      ({ body, ...rest }) => whenDone(202, requestEmailChange(context, actorOf(context, rest), body)),
    ),
    route(
      {
        path: '/auth/email/verification',
        operationId: 'requestVerification',
        summary: 'Confirm your address: another mail',
        ...ofUser,
        responses: willBeSent,
        problems: [409],
      },
      (input) => whenDone(202, requestVerification(context, actorOf(context, input))),
    ),
    route(
      {
        path: '/auth/email/verify',
        operationId: 'confirmEmail',
        summary: 'Confirm an email address by a mail',
        description:
          'When it is the first confirmation of an account, its sessions end: somebody else may have created it.',
        ...ofAnyone,
        body: { schema: EmailConfirmation },
        responses: { 204: { description: 'The address is confirmed' } },
        problems: [404, 409],
      },
      ({ body, req }) => whenDone(204, confirmEmail(context, body.token, clientOf(context, req))),
    ),
    route(
      {
        path: '/auth/me/delete',
        operationId: 'deleteAccount',
        summary: 'Delete your account',
        description:
          'All sessions end at once. After 14 days everything about you is erased, unless you log in before. Lists that ' +
          'have no other owner pass to the editor who was invited first, or else they are erased, too.',
        ...ofUser,
        responses: { 200: { description: 'Your account will be erased', body: Leaving } },
        problems: [403],
      },
      async (input) => {
        const erasedAt = await leave(context, actorOf(context, input));
        return { status: 200, headers: noStore, body: { erasedAt } };
      },
    ),
    exportRoute(context),
  ];
};
