import { render } from 'preact';
import './style.css';

/** The header of every page. */
function Header() {
  return (
    <header>
      <h1>NERO</h1>
    </header>
  );
}

const root = document.getElementById('app');
if (root) render(<Header />, root);
