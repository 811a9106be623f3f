import { Component, type ReactNode } from 'react';
import { words } from '../i18n/index.ts';

/** A fault in a part of the page must not leave a blank one. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <main className="away" role="alert">
        <p>{words().broken}</p>
        <button type="button" onClick={() => location.reload()}>
          {words().reload}
        </button>
      </main>
    );
  }
}
