import { html } from './html.ts';

/** The operations page: the sign-in form; the views are added after the sign-in. */
export const operations = html` <main id="content" class="page">
  <noscript><p class="note">This page needs JavaScript.</p></noscript>
  <section id="sign-in" class="sign-in" aria-labelledby="sign-in-heading">
    <h1 id="sign-in-heading">Operations</h1>
    <p class="lead">
      For the person on call. The token stays in the memory of this page: it is not stored, and reloading the
      page removes it.
    </p>
    <p id="sign-in-notice" class="note" role="status"></p>
    <form id="sign-in-form" autocomplete="off">
      <label for="token">Access token</label>
      <input
        id="token"
        type="text"
        class="masked"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        required
        aria-describedby="token-help sign-in-error"
      />
      <p id="token-help" class="soft">
        Scopes: <code>ops:read</code> for health and traffic, <code>stores:admin</code> for webhooks,
        <code>wallet:read</code> and <code>wallet:admin</code> for rounds and the ledger,
        <code>wallet:audit</code> for evidence.
      </p>
      <p id="sign-in-error" class="error" role="alert"></p>
      <p class="actions">
        <button type="submit">Sign in</button
        ><button type="button" class="quiet" id="use-demo" hidden>Use the demo token</button>
      </p>
    </form>
  </section>
  <div id="dashboard" hidden></div>
</main>`;
