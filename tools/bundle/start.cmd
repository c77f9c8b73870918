@echo off
rem Starts the course on Windows. setup\start.py does the work.
setlocal EnableExtensions DisableDelayedExpansion
set "here=%~dp0"
set "python="
for /f "usebackq" %%V in ("%here%setup\pythons.txt") do call :look py -%%V
call :look python
if not defined python goto none
%python% "%here%setup\start.py" %*
set "status=%errorlevel%"
if not "%status%"=="0" pause
exit /b %status%

:look
if defined python exit /b 0
%* "%here%setup\fits.py" >nul 2>&1 && set "python=%*"
exit /b 0

:none
chcp 65001 >nul
type "%here%setup\needed.txt"
pause
exit /b 1
