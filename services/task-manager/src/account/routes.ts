import { noStore } from '@platform/service-kit/record-versions';
import { anyone, route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { actorOf, clientOf } from '../sessions/client.ts';
import { emptyResponse } from '../empty-response.ts';
import { exportRoute } from './export.ts';
import { deleteAccount } from './deletion.ts';
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
const willBeSent = { 202: { description: 'Accepted; the response does not reveal whether a mail is sent' } };

/** Routes for users to change their own account, and for the codes of mails. */
export const accountRoutes = (context: Context): Route[] => {
  const { tokens, clientAddress } = context;
  const userPost = { method: 'post', tag, auth: tokens.guard() } as const;
  const publicPost = { method: 'post', tag, auth: anyone } as const;
  return [
    route(
      {
        path: '/auth/reauthenticate',
        operationId: 'reauthenticate',
        summary: 'Enter your password again',
        description:
          'For ten minutes this session may change the address, delete the account or export it. Wrong passwords count as ' +
          'failed logins: 429.',
        ...userPost,
        body: { schema: Reauthentication, example: { password: 'try-me-out-2026' } },
        responses: { 204: { description: 'The password is right' } },
        problems: [403],
      },
      ({ body, ...input }) =>
        emptyResponse(204, reauthenticate(context, actorOf(context, input), body.password)),
    ),
    route(
      {
        path: '/auth/password',
        operationId: 'changePassword',
        summary: 'Change your password',
        description:
          'Ends all other sessions and voids unconfirmed changes of your address. Wrong passwords count as failed logins: 429.',
        ...userPost,
        body: {
          schema: PasswordChange,
          example: { currentPassword: 'try-me-out-2026', newPassword: 'try-me-out-2026' },
        },
        responses: { 204: { description: 'The new password is in force' } },
        problems: [403],
      },
      ({ body, ...input }) => emptyResponse(204, changePassword(context, actorOf(context, input), body)),
    ),
    route(
      {
        path: '/auth/password/reset',
        operationId: 'requestPasswordReset',
        summary: 'Forgotten password: request a mail',
        description:
          'The response is the same for every address. The mail has a code for `/auth/password/reset/confirm`, which is valid ' +
          'for 30 minutes or until it is used or replaced by a newer one. Within three minutes of an unused code no mail is sent.',
        ...publicPost,
        body: { schema: PasswordResetRequest, example: { email: 'demo@example.test' } },
        responses: willBeSent,
        problems: [409],
      },
      ({ body, req }) =>
        emptyResponse(202, requestPasswordReset(context, { ...body, address: clientAddress(req) })),
    ),
    route(
      {
        path: '/auth/password/reset/confirm',
        operationId: 'resetPassword',
        summary: 'Set a new password with a mailed code',
        description:
          'Ends every session, voids unconfirmed changes of the address, and ends waits after failed logins.',
        ...publicPost,
        body: { schema: PasswordReset },
        responses: { 204: { description: 'The new password is in force' } },
        problems: [404, 409],
      },
      ({ body, req }) => emptyResponse(204, resetPassword(context, body, clientOf(context, req))),
    ),
    route(
      {
        path: '/auth/email',
        operationId: 'requestEmailChange',
        summary: 'Change your email address',
        description:
          'Mails a code to the new address. The address changes when the code is confirmed; then the old address gets a notice.',
        ...userPost,
        body: {
          schema: EmailChange,
          example: { newEmail: 'my-name@example.test', currentPassword: 'try-me-out-2026' },
        },
        responses: willBeSent,
        problems: [403, 409],
      },
      ({ body, ...input }) => emptyResponse(202, requestEmailChange(context, actorOf(context, input), body)),
    ),
    route(
      {
        path: '/auth/email/verification',
        operationId: 'requestVerification',
        summary: 'Request another verification mail',
        ...userPost,
        responses: willBeSent,
        problems: [409],
      },
      (input) => emptyResponse(202, requestVerification(context, actorOf(context, input))),
    ),
    route(
      {
        path: '/auth/email/verify',
        operationId: 'confirmEmail',
        summary: 'Confirm an email address by its code',
        description:
          'The first confirmation of an account ends its sessions, because somebody else may have created the account.',
        ...publicPost,
        body: { schema: EmailConfirmation },
        responses: { 204: { description: 'The address is confirmed' } },
        problems: [404, 409],
      },
      ({ body, req }) => emptyResponse(204, confirmEmail(context, body.token, clientOf(context, req))),
    ),
  ];
};

/** Routes that export and delete the account of a user. */
export const leavingRoutes = (context: Context): Route[] => [
  exportRoute(context),
  route(
    {
      path: '/auth/me/delete',
      operationId: 'deleteAccount',
      summary: 'Delete your account',
      description:
        'Ends all sessions at once. After 14 days all data about you is erased; a login before then cancels the deletion. ' +
        'A list without another owner passes to the editor who was invited first; without an editor it is erased, too.',
      method: 'post',
      tag,
      auth: context.tokens.guard(),
      responses: { 200: { description: 'Your account will be erased', body: Leaving } },
      problems: [403],
    },
    async (input) => {
      const erasedAt = await deleteAccount(context, actorOf(context, input));
      return { status: 200, headers: noStore, body: { erasedAt } };
    },
  ),
];
